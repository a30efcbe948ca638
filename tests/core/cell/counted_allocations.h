// Counts the allocations of each thread. Include it in one source of a test program: it replaces operator new, except
// under a sanitizer, which needs its own; there nothing is counted.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <new>

namespace stormcell::testing {
inline thread_local int64_t allocations = 0;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++stormcell::testing::allocations;
  return std::malloc(size ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
#endif
