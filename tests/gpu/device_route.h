// The whole of route() on the emulator: the kernels that gpu/routing/route.cu launches, in its order.
#pragma once
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu/routing/one_block.h"
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

template <int kLanes, int kHeld>
bool takes_one_block(const gpu::OneBlockArgs& args) {
  return gpu::is_one_tile(args.index) && args.choose.cells <= gpu::RouteAndMapKernel<kLanes, kHeld>::kMostCells;
}
/// Empty and `done` where one block routes so many cells.
inline std::string emulate_one_block(const gpu::OneBlockArgs& args, ThreadOrder order, bool& done) {
  const auto with = [&]<int kLanes, int kHeld>() {
    done = takes_one_block<kLanes, kHeld>(args);
    return done ? emulate<gpu::RouteAndMapKernel<kLanes, kHeld>>(1, args, order) : std::string();
  };
  const int32_t branches = args.choose.branches;
  done = false;
  if (branches > 256) return {};
  return branches <= 8     ? with.operator()<8, 1>()
         : branches <= 32  ? with.operator()<32, 1>()
         : branches <= 64  ? with.operator()<8, 8>()
         : branches <= 128 ? with.operator()<16, 8>()
                           : with.operator()<32, 8>();
}

/// As gpu::route, with at most `most_blocks` blocks a kernel.
inline std::string emulate_route(const gpu::RouteCall& call, ThreadOrder order = ThreadOrder::ascending, int most_blocks = 8) {
  const size_t bytes = gpu::route_workspace(call.cells, call.branches, call.rule);
  const AlignedMemory workspace(bytes);
  if (const gpu::Status status = gpu::check_route(call, workspace.get(), bytes); !status.ok()) return status.text();
  const gpu::IndexArgs args = gpu::index_args(call, workspace.get());
  bool done = false;
  std::string wrong = emulate_one_block({gpu::choose_args(call), args, {}}, order, done);
  if (done) return wrong;
  if (call.cells > 0) {
    const gpu::ChooseArgs choose = gpu::choose_args(call);
    wrong = call.branches <= 8     ? emulate_choose<8, 1>(choose, order, most_blocks)
            : call.branches <= 32  ? emulate_choose<32, 1>(choose, order, most_blocks)
            : call.branches <= 64  ? emulate_choose<8, 8>(choose, order, most_blocks)
            : call.branches <= 128 ? emulate_choose<16, 8>(choose, order, most_blocks)
            : call.branches <= 256 ? emulate_choose<32, 8>(choose, order, most_blocks)
                                   : emulate_choose<32, 32>(choose, order, most_blocks);
    if (!wrong.empty()) return wrong;
  }
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
