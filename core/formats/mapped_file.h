// A file mapped read-only into memory: pages are read when touched and can be given back.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace stormcell {

/// The file must not be shortened while its mapped bytes are touched (the kernel would raise SIGBUS): read() can tell that. All methods may
/// be called by several threads.
class MappedFile {
 public:
  /// Bad input: missing, a folder, not readable. An empty file maps to no bytes.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// Takes every page that holds a part of [offset, offset + size) out of the resident set; touched again, it is read again.
  void drop_pages(size_t offset, size_t size) const;
  /// Copies [offset, offset + bytes.size()) as the file has it now. Throws Error(failed) where it has become shorter or cannot be read.
  /// What was opened stays readable when its name goes.
  void read(size_t offset, std::span<std::byte> bytes) const;
  /// Tells the kernel that the range is about to be read once, in order.
  void advise_sequential(size_t offset, size_t size) const;

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes, int descriptor)
      : path_(std::move(path)), bytes_(bytes), descriptor_(descriptor) {}
  void advise(size_t offset, size_t size, int advice) const;

  std::string path_;
  std::span<const std::byte> bytes_;
  int descriptor_;  // of its own
};

}  // namespace stormcell
