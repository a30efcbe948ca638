// The meaning of the words of a measured call: which GPU, and which number format.
#pragma once
#include <string>
#include <string_view>

namespace stormcell {

/// "H100" is the GPU of a cluster of "H100 SXM5 80GB".
bool is_gpu_of(std::string_view call, std::string_view cluster);
/// "H100" of "NVIDIA H100 80GB HBM3", as drivers call it: as data sheets and clusters begin; cards on PCIe are others.
std::string gpu_label(std::string name);
/// Bits of a number of "fp8-block", "bf16", ...; 0: not one of those.
double bits_of_label(std::string_view dtype);

}  // namespace stormcell
