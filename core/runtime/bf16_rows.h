// Operators that a device computes on rows that lie in bf16.
#pragma once
#include <string_view>
#include <vector>

namespace stormcell {

/// Operators with a kernel for activations that lie in bf16.
struct Bf16Rows {
  std::vector<std::string_view> read;   ///< operators that read input 0 so
  std::vector<std::string_view> write;  ///< operators that write outputs so
};

}  // namespace stormcell
