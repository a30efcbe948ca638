#include "gpu/routing/choose_launch.cuh"

namespace stormcell::gpu {
template Status launch_choose<8, 1>(const Device& device, const ChooseArgs& args, Stream stream);
}  // namespace stormcell::gpu
