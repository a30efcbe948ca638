// How a plan computes, and which of its values may not be finite: what is known of a plan before it is judged.
#pragma once
#include <cstdint>

namespace stormcell {

/// How a plan computes, whatever the weights are stored in.
enum class Arithmetic : uint8_t {
  f32,
  rounds_to_bf16,  ///< inputs of products, or what a state keeps, are rounded to bf16
};

enum class NonFinite : uint8_t {
  refused,  ///< refused on either side
  allowed,  ///< allowed if both sides have the same: --allow-nonfinite
};

}  // namespace stormcell
