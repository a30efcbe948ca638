// What state_put may write, for the oracle and the kernel alike: rows that do not fit are an error, never cut off.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/error.h"

namespace stormcell {

inline void expect_places(const std::string& node, int64_t places, int64_t rows, int64_t at) {
  if (at < 0 || rows > places - at)
    failed(node, "expected rows that fit " + std::to_string(places) + " places, got " + std::to_string(rows) + " from place " +
                     std::to_string(at));
}

/// Where state_put writes: `rows` rows of each of `parents` parents, from place `at` of its `places` on; `row_bytes` bytes a row. The rows
/// lie one parent after another in the value that is put.
struct PutRange {
  int64_t places = 0, rows = 0, at = 0, parents = 0, row_bytes = 0;

  /// The rows to their places.
  void put(std::byte* state, const std::byte* rows_from) const {
    for (int64_t p = 0; p < parents; ++p) std::memcpy(state + place(p), rows_from + p * rows * row_bytes, size());
  }
  /// What stands in their places.
  void get(const std::byte* state, std::byte* rows_to) const {
    for (int64_t p = 0; p < parents; ++p) std::memcpy(rows_to + p * rows * row_bytes, state + place(p), size());
  }

 private:
  int64_t place(int64_t parent) const { return (parent * places + at) * row_bytes; }
  size_t size() const { return static_cast<size_t>(rows * row_bytes); }
};

}  // namespace stormcell
