// Small checks of arguments, and laying arrays into a workspace.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/base/status.h"

namespace stormcell::gpu {

inline bool is_aligned(const void* pointer, size_t bytes) { return reinterpret_cast<uintptr_t>(pointer) % bytes == 0; }

/// Hands out aligned pieces of a workspace; without memory it only adds up their sizes.
class Pieces {
 public:
  explicit Pieces(void* memory = nullptr) : memory_(static_cast<std::byte*>(memory)) {}
  template <class T>
  T* take(int64_t n) {
    T* piece = memory_ ? reinterpret_cast<T*>(memory_ + bytes_) : nullptr;
    bytes_ += (static_cast<size_t>(n) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return piece;
  }
  size_t bytes() const { return bytes_; }
  static constexpr size_t kAlignment = 256;

 private:
  std::byte* memory_;
  size_t bytes_ = 0;
};

/// A pointer that must be there and aligned.
inline Status check_pointer(const char* call, const char* name, const void* pointer, size_t alignment) {
  if (!pointer) return Status::failure(StatusCode::bad_input, "%s: %s is null", call, name);
  if (!is_aligned(pointer, alignment))
    return Status::failure(StatusCode::bad_input, "%s: %s (%p) is not aligned to %zu bytes", call, name, pointer, alignment);
  return {};
}
inline Status check_workspace(const char* call, const void* workspace, size_t has, size_t needs) {
  if (needs == 0) return {};
  STORMCELL_TRY(check_pointer(call, "the workspace", workspace, Pieces::kAlignment));
  if (has < needs) return Status::failure(StatusCode::bad_input, "%s: the workspace has %zu bytes and needs %zu", call, has, needs);
  return {};
}

}  // namespace stormcell::gpu
