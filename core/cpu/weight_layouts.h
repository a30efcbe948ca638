// How weights lie in the memory of the CPU's kernels: the list of layouts, their sizes, and how they are written.
#pragma once
#include <memory>
#include <string>

#include "core/cpu/cpu_device.h"

namespace stormcell::cpu {

// Values of WeightKey::layout beside those of every device (kernel_build_context.h).
/// Panels for products.
inline constexpr const char* kPanels = "panels";
/// Panels as wide as the output channels ask for, for a convolution that gathers nothing; always f32.
inline constexpr const char* kDirectConvolution = "direct_convolution";
/// Groups of few output channels, for a convolution in planes; always f32.
inline constexpr const char* kPlanarConvolution = "planar_convolution";
/// Panels for a convolution in so many groups.
std::string conv_panels(int64_t groups);

/// Bytes of a weight in the layout and format of the key.
int64_t cpu_weight_bytes(const WeightKey& key, const WeightInfo& info);
/// Packs or converts a weight into memory of `space`, with the team.
std::unique_ptr<DeviceBuffer> load_cpu_weight(const WeightKey& key, const WeightSource& source, MemorySpace& space,
                                              ThreadTeam& team);
/// The same into memory that is there, on this thread alone.
void load_cpu_weight_to(const WeightKey& key, const WeightSource& source, std::byte* to);

}  // namespace stormcell::cpu
