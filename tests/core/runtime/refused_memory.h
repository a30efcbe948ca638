// Memory that is refused when a test says so. The operator new that asks here stands in allocation_test.cpp.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

// Sanitizers bring an operator new of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STORMCELL_COUNTS_ALLOCATIONS 1
#endif

namespace stormcell::testing {

/// So many allocations of this thread succeed; then one is refused, and those behind it succeed again.
inline thread_local int64_t allocations_until_refusal = INT64_MAX;
/// Allocations of so many bytes are refused, on any thread. 0: none.
inline std::atomic<size_t> refused_bytes = 0;

inline bool is_refused(size_t bytes) {
  if (refused_bytes.load(std::memory_order_relaxed) == bytes && bytes > 0) return true;
  return allocations_until_refusal != INT64_MAX && allocations_until_refusal-- == 0;
}

}  // namespace stormcell::testing
