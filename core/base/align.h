// Alignment of memory: sizes rounded up, and parts laid out in one piece of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace stormcell {

/// The least multiple of `to` that is not below `bytes`, which is not negative.
template <class Integer>
constexpr Integer align_up(Integer bytes, std::type_identity_t<Integer> to = 64) {
  return (bytes + to - 1) / to * to;
}

/// Hands out parts of a piece of memory one after another, each at a multiple of kAlignment from its beginning. Without
/// memory it only adds up their sizes: so one function lays out and sizes, on host and device memory alike.
template <size_t kAlignmentBytes>
class MemoryParts {
 public:
  static constexpr size_t kAlignment = kAlignmentBytes;
  explicit MemoryParts(void* memory = nullptr) : memory_(static_cast<std::byte*>(memory)) {}
  template <class T>
  T* take(int64_t count) {
    T* part = memory_ ? reinterpret_cast<T*>(memory_ + bytes_) : nullptr;
    bytes_ += align_up(static_cast<size_t>(count) * sizeof(T), kAlignment);
    return part;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  size_t bytes_ = 0;
};

}  // namespace stormcell
