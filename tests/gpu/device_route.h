// The whole of route() on the emulator: the kernels that gpu/routing/route.cu launches, in its order.
#pragma once
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu/routing/routing.h"
#include "tests/gpu/emulator.h"

namespace stormcell::testing {

/// Memory as a device gives it: aligned to 256 bytes, poisoned.
class AlignedMemory {
 public:
  explicit AlignedMemory(size_t bytes) : memory_(static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256 + 256))) {
    std::memset(memory_.get(), 0xcd, bytes);
  }
  std::byte* get() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

template <int kLanes, int kHeld>
std::string emulate_choose(const gpu::ChooseArgs& args, ThreadOrder order, int most_blocks) {
  using Kernel = gpu::ChooseKernel<kLanes, kHeld>;
  return emulate<Kernel>(gpu::least(most_blocks, gpu::parts(args.cells, Kernel::kCells)), args, order);
}

/// As gpu::route, with at most `most_blocks` blocks a kernel.
inline std::string emulate_route(const gpu::RouteCall& call, ThreadOrder order = ThreadOrder::ascending, int most_blocks = 8) {
  const size_t bytes = gpu::route_workspace(call.cells, call.branches, call.rule);
  const AlignedMemory workspace(bytes);
  if (const gpu::Status status = gpu::check_route(call, workspace.get(), bytes); !status.ok()) return status.text();
  std::string wrong;
  if (call.cells > 0) {
    const gpu::ChooseArgs args = gpu::choose_args(call);
    wrong = call.branches <= 8     ? emulate_choose<8, 1>(args, order, most_blocks)
            : call.branches <= 32  ? emulate_choose<32, 1>(args, order, most_blocks)
            : call.branches <= 128 ? emulate_choose<32, 4>(args, order, most_blocks)
            : call.branches <= 256 ? emulate_choose<32, 8>(args, order, most_blocks)
                                   : emulate_choose<32, 32>(args, order, most_blocks);
    if (!wrong.empty()) return wrong;
  }
  const gpu::IndexArgs args = gpu::index_args(call, workspace.get());
  if (gpu::is_one_tile(args)) return emulate<gpu::IndexOneTileKernel>(1, args, order);
  if (args.capacity > 0) {
    wrong = emulate<gpu::TailKernel>(most_blocks, args, order);
    if (wrong.empty()) wrong = emulate<gpu::CarryKernel>(most_blocks, args, order);
    if (wrong.empty()) wrong = emulate<gpu::LimitKernel>(most_blocks, args, order);
  }
  if (wrong.empty()) wrong = emulate<gpu::CountKernel>(most_blocks, args, order);
  if (wrong.empty()) wrong = emulate<gpu::ScanKernel>(most_blocks, args, order);
  if (wrong.empty()) wrong = emulate<gpu::PlaceKernel>(most_blocks, args, order);
  return wrong;
}

}  // namespace stormcell::testing
