// Nodes that put pixels of maps in other places (gpu/maps/pixels.h).
#pragma once
#include "core/graph/patch_grid.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

/// Arguments with the extents of input 0 and output 0. The grid gives the extents of a flat patch.
PixelArgs pixels_of(const KernelBuildContext& making, PixelMap map);
/// The patches of an unfold or a fold.
void set_grid(PixelArgs& args, const PatchGrid& grid);
void add_pixels(StepNodes& nodes, const PixelArgs& args);

}  // namespace stormcell::gpu
