#include <cstdio>
#include <type_traits>

#include "gpu/grouped/arguments.h"
#include "gpu/grouped/grouped.h"
#include "gpu/grouped/instances.h"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {
namespace {

template <class T, int kPanels>
Status launch_one(Launch launch, const Device& device, int32_t experts, const ProductArgs<T>& args, const char* sizes,
                  Stream stream) {
  if (launch == Launch::plain) return launch_plain<T, kPanels>(device, args, sizes, stream);
  if (launch == Launch::gemv) return launch_gemv<T, kPanels>(device, args, sizes, stream);
  if constexpr (std::is_same_v<T, Bf16>) {
    return launch == Launch::joined ? launch_joined<kPanels>(device, args, experts, sizes, stream)
                                    : launch_swapped<kPanels>(device, args, experts, sizes, stream);
  } else {
    return Status::failure(StatusCode::bad_input, "grouped product, %s %s: tensor cores need bf16", to_text(launch),
                           sizes);
  }
}

template <class T>
Status launch_all(const Device& device, const GroupedCall& call, const TileMap& map, const char* sizes, Stream stream) {
  const auto args = args_of<T>(call, map.at);
  for (const Launch launch : launches(map.limits, call.most_rows))
    STORMCELL_TRY((call.gated ? launch_one<T, 2>(launch, device, call.experts, args, sizes, stream)
                              : launch_one<T, 1>(launch, device, call.experts, args, sizes, stream)));
  return {};
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
  if (!offsets || !map.at)
    return Status::failure(StatusCode::bad_input, "tile map: %s is null", offsets ? "the map" : "offsets");
  char sizes[32];
  std::snprintf(sizes, sizeof sizes, "(%d experts)", experts);
  return launch<TileMapKernel>("tile map", sizes, 1, {offsets, experts, map.limits, map.at}, stream);
}

Status grouped_product(const GroupedCall& call, const TileMap& map, Stream stream) {
  STORMCELL_TRY(check_grouped(call, map));
  const Device* device = nullptr;
  STORMCELL_TRY(current_device(device));
  if (map.limits.tensor_cores && !device->has_wgmma())
    return Status::failure(StatusCode::unsupported, "grouped product: device %d (%s, %d.%d) has no wgmma",
                           device->index, device->name, device->major, device->minor);
  char sizes[96];
  std::snprintf(sizes, sizeof sizes, "(%d experts, n %d, k %d, up to %lld slots, %s%s)", call.experts, call.n, call.k,
                static_cast<long long>(call.most_slots), to_text(call.format), call.gated ? ", gated" : "");
  return call.format == Format::f32 ? launch_all<float>(*device, call, map, sizes, stream)
                                    : launch_all<Bf16>(*device, call, map, sizes, stream);
}

Status check_most_rows(const TileMap& map, int64_t most_rows, Stream stream) {
  constexpr const char* kSizes = "(rows of a tile map)";
  int32_t rows = 0;
  STORMCELL_TRY(check_cuda(cudaMemcpyAsync(&rows, most_rows_of(map.at), sizeof rows, cudaMemcpyDeviceToHost, stream),
                           "cudaMemcpyAsync", kSizes));
  STORMCELL_TRY(check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize", kSizes));
  return check_most_rows(rows, most_rows);
}

}  // namespace stormcell::gpu
