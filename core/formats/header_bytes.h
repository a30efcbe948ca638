// Bytes of a file's header, taken in order and read a piece at a time: sizes that a header claims take no memory before
// its bytes are read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class OpenFile;

/// All errors are Error(bad_input) that names the file, except Error(failed) if the file cannot be read any more.
class HeaderBytes {
 public:
  /// Bytes in memory, which must outlive the object; `where` names them in errors.
  HeaderBytes(std::span<const std::byte> bytes, std::string where);
  /// A file, which must outlive the object.
  explicit HeaderBytes(const OpenFile& file);

  const std::string& where() const { return where_; }
  uint64_t size() const { return size_; }  ///< of the file
  uint64_t at() const { return at_; }      ///< offset of the next byte
  uint64_t rest() const { return size_ - at_; }

  /// A little-endian number.
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
  }
  /// A text of `bytes`; refused if it is longer than `most`.
  std::string take_text(uint64_t bytes, uint64_t most);
  void skip(uint64_t bytes);
  /// Refused beyond the end of the file.
  void go_to(uint64_t offset);

  /// Throws Error(bad_input): the file ends before its header does.
  [[noreturn]] void refuse_end() const;

 private:
  /// The next bytes, at most kMostPiece, as long as nothing else is taken.
  const std::byte* next(uint64_t bytes) {
    if (at_ < begin_ || at_ - begin_ > piece_.size() || piece_.size() - (at_ - begin_) < bytes) fill(bytes);
    const std::byte* from = piece_.data() + (at_ - begin_);
    at_ += bytes;
    return from;
  }
  void fill(uint64_t bytes);

  const OpenFile* file_ = nullptr;  ///< null: bytes in memory
  std::string where_;
  uint64_t size_ = 0, at_ = 0;
  std::span<const std::byte> piece_;  ///< bytes from begin_ on
  uint64_t begin_ = 0;
  std::vector<std::byte> buffer_;
};

/// Walks the bytes [at(), at() + size) as characters, for parsers that take iterators.
class HeaderCharacters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  HeaderCharacters() = default;  ///< the end of any range
  HeaderCharacters(HeaderBytes& bytes, uint64_t size) : bytes_(&bytes), left_(size) { step(); }
  reference operator*() const { return character_; }
  HeaderCharacters& operator++() {
    step();
    return *this;
  }
  HeaderCharacters operator++(int) {
    HeaderCharacters old = *this;
    step();
    return old;
  }
  bool operator==(const HeaderCharacters& other) const { return (bytes_ == nullptr) == (other.bytes_ == nullptr); }
  bool operator!=(const HeaderCharacters& other) const { return !(*this == other); }

 private:
  void step() {
    if (left_ == 0)
      bytes_ = nullptr;
    else
      character_ = bytes_->take<char>(), --left_;
  }
  HeaderBytes* bytes_ = nullptr;
  uint64_t left_ = 0;
  char character_ = 0;
};

}  // namespace stormcell
