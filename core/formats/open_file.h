// A regular file opened for reading, with one-line reasons when it cannot be.
#pragma once
#include <cstddef>
#include <string>

namespace stormcell {

class OpenFile {
 public:
  /// Bad input: missing, a folder or device, not readable.
  static OpenFile open_regular(const std::string& path);
  /// A descriptor that stays open and whose size is not known.
  static OpenFile borrow(int descriptor) { return OpenFile(descriptor, 0, false); }
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }
  size_t size() const { return size_; }

 private:
  OpenFile(int descriptor, size_t size, bool owned) : descriptor_(descriptor), size_(size), owned_(owned) {}
  int descriptor_;
  size_t size_;
  bool owned_;
};

}  // namespace stormcell
