// Launches of ChooseKernel.
#pragma once
#include "gpu/launch/device.h"
#include "gpu/routing/choose.h"

namespace stormcell::gpu {

/// Launches an instance for the shapes in choose_shapes.h.
template <int kLanes, int kHeld>
Status launch_choose(const Device& device, const ChooseArgs& args, Stream stream);

/// The instance for a call's branches, over as many blocks as it has work for.
Status choose(const Device& device, const ChooseArgs& args, Stream stream);

}  // namespace stormcell::gpu
