#include "gpu/routing/route_and_map.cuh"

namespace stormcell::gpu {
template Status launch_route_and_map<32, 8>(const OneBlockArgs& args, Stream stream);
}  // namespace stormcell::gpu
