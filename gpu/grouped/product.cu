#include <cstdio>

#include "gpu/grouped/arguments.h"
#include "gpu/grouped/grouped.h"
#include "gpu/grouped/instances.h"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {
namespace {

/// The regimes that every card and format has.
template <class T, int kPanels>
Status without_tensor_cores(const Device& device, const GroupedCall& call, const RegimeLimits& limits, const ProductArgs<T>& args,
                            const char* sizes, Stream stream) {
  if (may_occur(Regime::plain, limits, call.most_rows)) STORMCELL_TRY((launch_plain<T, kPanels>(device, args, sizes, stream)));
  if (may_occur(Regime::gemv, limits, call.most_rows)) STORMCELL_TRY((launch_gemv<T, kPanels>(device, args, sizes, stream)));
  return {};
}

template <int kPanels>
Status with_tensor_cores(const Device& device, const GroupedCall& call, const RegimeLimits& limits, const ProductArgs<Bf16>& args,
                         const char* sizes, Stream stream) {
  if (may_occur(Regime::large, limits, call.most_rows))
    STORMCELL_TRY((launch_joined<kPanels>(device, args, call.experts, sizes, stream)));
  else if (may_occur(Regime::swapped, limits, call.most_rows))
    STORMCELL_TRY((launch_swapped<kPanels>(device, args, call.experts, sizes, stream)));
  return without_tensor_cores<Bf16, kPanels>(device, call, limits, args, sizes, stream);
}

}  // namespace

Status choose_limits(const ProductShape* products, int count, const ExpertLoads& rows, RegimeLimits& limits) {
  const Device* device = nullptr;
  STORMCELL_TRY(current_device(device));
  limits = choose_limits(device->has_wgmma(), products, count, rows);
  return {};
}

Status make_tile_map(const int32_t* offsets, int32_t experts, const TileMap& map, Stream stream) {
  if (experts < 1 || experts > kMostExperts)
    return Status::failure(StatusCode::bad_input, "tile map: %d experts, allowed are 1 to %d", experts, kMostExperts);
  if (!offsets || !map.at) return Status::failure(StatusCode::bad_input, "tile map: %s is null", offsets ? "the map" : "offsets");
  char sizes[32];
  std::snprintf(sizes, sizeof sizes, "(%d experts)", experts);
  return launch<TileMapKernel>("tile map", sizes, 1, {offsets, experts, map.limits, map.at}, stream);
}

Status grouped_product(const GroupedCall& call, const TileMap& map, Stream stream) {
  STORMCELL_TRY(check_grouped(call, map));
  const RegimeLimits& limits = map.limits;
  const Device* device = nullptr;
  STORMCELL_TRY(current_device(device));
  if (limits.tensor_cores && !device->has_wgmma())
    return Status::failure(StatusCode::unsupported, "grouped product: device %d (%s, %d.%d) has no wgmma", device->index, device->name,
                           device->major, device->minor);
  char sizes[96];
  std::snprintf(sizes, sizeof sizes, "(%d experts, n %d, k %d, up to %lld slots, %s%s)", call.experts, call.n, call.k,
                static_cast<long long>(call.most_slots), to_text(call.format), call.gated ? ", gated" : "");
  if (call.format == Format::f32) {
    const auto args = args_of<float>(call, map.at);
    return call.gated ? without_tensor_cores<float, 2>(*device, call, limits, args, sizes, stream)
                      : without_tensor_cores<float, 1>(*device, call, limits, args, sizes, stream);
  }
  const auto args = args_of<Bf16>(call, map.at);
  return call.gated ? with_tensor_cores<2>(*device, call, limits, args, sizes, stream)
                    : with_tensor_cores<1>(*device, call, limits, args, sizes, stream);
}

}  // namespace stormcell::gpu
