// The instances of ChooseKernel: how many threads take a cell and how many scores a thread holds, by branches. Each is
// compiled in a file of its own.
#pragma once
#include <cstdint>

#include "gpu/routing/rule.h"

namespace stormcell::gpu {

template <int kLanes_, int kHeld_>
struct ChooseShape {
  static constexpr int kLanes = kLanes_, kHeld = kHeld_;
  static constexpr int32_t kBranches = kLanes * kHeld;  ///< up to
};

template <class... Shapes>
struct ShapeList {
  template <class Shape>
  using And = ShapeList<Shapes..., Shape>;
  /// Calls body(the first shape for which fits(shape)); false if there is none.
  template <class Fits, class Body>
  static bool with_first(const Fits& fits, const Body& body) {
    return (... || (fits(Shapes()) && (body(Shapes()), true)));
  }
};

/// Shapes whose cells one block can take on its way through index and tile map (one_block.h).
using OneBlockShapes =
    ShapeList<ChooseShape<8, 1>, ChooseShape<32, 1>, ChooseShape<8, 8>, ChooseShape<16, 8>, ChooseShape<32, 8>>;
using LargestChooseShape = ChooseShape<32, 32>;
using ChooseShapes = OneBlockShapes::And<LargestChooseShape>;
static_assert(LargestChooseShape::kBranches == kMostBranches);

/// Calls body(the shape for so many branches); false if they are too many.
template <class Body>
bool with_choose_shape(int32_t branches, const Body& body) {
  return ChooseShapes::with_first([&](auto shape) { return branches <= decltype(shape)::kBranches; }, body);
}

}  // namespace stormcell::gpu
