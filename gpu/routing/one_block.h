// Routing of a few cells by one block, with the tile map of the products after it if wanted. Each launch saved is some
// microseconds, about as much as a layer of few cells takes beside its products. Bound: one block's latency.
#pragma once
#include "gpu/grouped/tile_map.h"
#include "gpu/routing/choose.h"
#include "gpu/routing/choose_shapes.h"
#include "gpu/routing/index.h"

namespace stormcell::gpu {

struct OneBlockArgs {
  ChooseArgs choose;
  IndexArgs index;  ///< of one tile
  TileMapArgs map;  ///< without a map: routing alone
};

/// Index and tile map of choices that have been made.
struct IndexAndMapKernel {
  using Args = OneBlockArgs;
  static constexpr int kThreads = 256;
  union Shared {  // one after another
    IndexOneTileKernel::Shared index;
    TileMapBlock<kThreads>::Shared map;
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    IndexOneTileKernel::run(x, a.index);
    if (!a.map.map) return;
    x.sync();
    TileMapBlock<kThreads>::run(x, a.map);
  }
};

/// Everything, for cells that take one block a few turns; 64 always do.
template <int kLanes, int kHeld>
struct RouteAndMapKernel {
  using Args = OneBlockArgs;
  using Choose = ChooseKernel<kLanes, kHeld>;
  static constexpr int kThreads = 256, kMostCells = most(64, 4 * Choose::kCells);
  union Shared {
    typename Choose::Shared choose;
    IndexAndMapKernel::Shared others;
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Choose::run(x, a.choose);
    x.sync();
    IndexAndMapKernel::run(x, a);
  }
};

/// Calls body(the shape of RouteAndMapKernel for a call); false if the cells are too many for one block, or their
/// choices for one tile.
template <class Body>
bool with_one_block(const OneBlockArgs& args, const Body& body) {
  if (args.index.tiles != 1) return false;
  const auto fits = [&](auto shape) {
    using Shape = decltype(shape);
    return args.choose.branches <= Shape::kBranches &&
           args.choose.cells <= RouteAndMapKernel<Shape::kLanes, Shape::kHeld>::kMostCells;
  };
  return OneBlockShapes::with_first(fits, body);
}

}  // namespace stormcell::gpu
