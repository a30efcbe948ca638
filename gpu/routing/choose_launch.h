// Which instance of ChooseKernel a number of branches takes: each is compiled in a file of its own.
#pragma once
#include "gpu/launch/device.h"
#include "gpu/routing/choose.h"

namespace stormcell::gpu {

Status choose_8x1(const Device& device, const ChooseArgs& args, Stream stream);
Status choose_32x1(const Device& device, const ChooseArgs& args, Stream stream);
Status choose_8x8(const Device& device, const ChooseArgs& args, Stream stream);
Status choose_16x8(const Device& device, const ChooseArgs& args, Stream stream);
Status choose_32x8(const Device& device, const ChooseArgs& args, Stream stream);
Status choose_32x32(const Device& device, const ChooseArgs& args, Stream stream);

struct ChooseInstance {
  int32_t branches;  ///< up to
  Status (*launch)(const Device&, const ChooseArgs&, Stream);
};
inline constexpr ChooseInstance kChooseInstances[] = {{8, choose_8x1},    {32, choose_32x1},  {64, choose_8x8},
                                                      {128, choose_16x8}, {256, choose_32x8}, {kMostBranches, choose_32x32}};

/// The instance for a call's branches, over as many blocks as it has work for.
Status choose(const Device& device, const ChooseArgs& args, Stream stream);

}  // namespace stormcell::gpu
