// A regular file opened for reading, with one-line reasons when it cannot be.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace stormcell {

/// True if anything has this name, even a link whose target is missing: opening it reports that.
bool has_entry(const std::string& path);

class OpenFile {
 public:
  /// Bad input: missing, a folder or device, not readable.
  static OpenFile open_regular(const std::string& path);
  /// A descriptor that stays open and whose size is not known.
  static OpenFile borrow(int descriptor) { return OpenFile({}, descriptor, 0, 0, false); }
  /// Takes over the descriptor of a regular file and closes it with this object. Errors name `path`.
  static OpenFile take(const std::string& path, int descriptor);
  OpenFile(OpenFile&& other) noexcept;
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::string& path() const { return path_; }  ///< empty: borrowed
  int descriptor() const { return descriptor_; }
  size_t size() const { return size_; }  ///< when it was opened

  /// Copies [offset, offset + to.size()) of a regular file as it is now. Throws Error(failed) that names the file if it
  /// has become shorter or cannot be read. An opened file stays readable when its name is removed. Any thread may call.
  void read(size_t offset, std::span<std::byte> to) const;
  /// "FILE was written to while it was used" where its size or the time of its last change is another than when it was
  /// opened; else empty.
  std::string change() const;
  /// Reads the current size and time of change.
  void look_again();
  /// Throws Error(failed) if there is a change.
  void expect_unchanged() const;

 private:
  OpenFile(std::string path, int descriptor, size_t size, int64_t written_ns, bool owned)
      : path_(std::move(path)), descriptor_(descriptor), size_(size), written_ns_(written_ns), owned_(owned) {}
  [[noreturn]] void refuse_shorter() const;
  std::string what_changed() const;  // change() without the file's name

  std::string path_;
  int descriptor_;
  size_t size_;
  int64_t written_ns_;
  bool owned_;
};

}  // namespace stormcell
