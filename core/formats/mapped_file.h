// A file mapped read-only into memory: pages are read when touched and can be given back.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace stormcell {

class OpenFile;

/// For traces, which are read once, soon after opening: if the file is shortened while its bytes are read, the kernel
/// ends the program with SIGBUS. Files that a run reads go through OpenFile::read(), as weights and data do. All
/// methods may be called by several threads.
class MappedFile {
 public:
  /// Bad input: missing, a folder, not readable. An empty file maps to no bytes.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  /// Maps the whole of an open file. The descriptor may be closed afterwards.
  static std::shared_ptr<const MappedFile> map(const OpenFile& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// Takes every page that holds a part of [offset, offset + size) out of the resident set; touched again, it is read
  /// again.
  void drop_pages(size_t offset, size_t size) const;

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}

  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace stormcell
