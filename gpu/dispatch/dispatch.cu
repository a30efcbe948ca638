#include "gpu/dispatch/dispatch.h"

#include <cstdio>

#include "gpu/dispatch/arguments.h"
#include "gpu/dispatch/rows.h"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {
namespace {
constexpr int kWaves = 8;  // 256 threads each: all that a multiprocessor holds

struct Sizes {
  char text[64];
  Sizes(int64_t cells, int32_t fan_out, int64_t width, Format format) {
    std::snprintf(text, sizeof text, "(%lld cells x %d, %lld %s wide)", static_cast<long long>(cells), fan_out,
                  static_cast<long long>(width), to_text(format));
  }
};
}  // namespace

Status dispatch(const DispatchCall& call, Stream stream) {
  STORMCELL_TRY(check_dispatch(call));
  const Device* device = nullptr;
  STORMCELL_TRY(current_device(device));
  if (call.cells == 0) return {};
  const DispatchArgs args = args_of(call);
  const int64_t work = parts<int64_t>(call.cells * call.decision.fan_out, DispatchKernel::kThreads / 32);
  const Sizes sizes(call.cells, call.decision.fan_out, call.width, call.format);
  return launch<DispatchKernel>("dispatch", sizes.text, blocks_for(*device, work, kWaves), args, stream);
}

Status combine(const CombineCall& call, Stream stream) {
  STORMCELL_TRY(check_combine(call));
  const Device* device = nullptr;
  STORMCELL_TRY(current_device(device));
  if (call.cells == 0) return {};
  const CombineArgs args = args_of(call);
  const int64_t warps = call.cells * CombineKernel<float>::groups_of(args.pieces, args.fan_out);
  const int64_t blocks = blocks_for(*device, parts<int64_t>(warps, CombineKernel<float>::kThreads / 32), kWaves);
  const Sizes sizes(call.cells, call.decision.fan_out, call.width, call.format);
  return call.format == Format::f32 ? launch<CombineKernel<float>>("combine", sizes.text, blocks, args, stream)
                                    : launch<CombineKernel<Bf16>>("combine", sizes.text, blocks, args, stream);
}

}  // namespace stormcell::gpu
