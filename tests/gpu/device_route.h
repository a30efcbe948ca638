// The whole of route() on the emulator: the kernels that gpu/routing/route.cu launches, in its order.
#pragma once
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu/routing/choose_shapes.h"
#include "gpu/routing/one_block.h"
#include "gpu/routing/routing.h"
#include "tests/gpu/emulator.h"

namespace stormcell::testing {

/// Memory as a device gives it: aligned to 256 bytes, poisoned.
class AlignedMemory {
 public:
  explicit AlignedMemory(size_t bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256 + 256))) {
    std::memset(memory_.get(), 0xcd, bytes);
  }
  std::byte* get() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

inline std::string emulate_choose(const gpu::ChooseArgs& args, ThreadOrder order, int most_blocks) {
  std::string wrong;
  const bool done = gpu::with_choose_shape(args.branches, [&](auto shape) {
    using Kernel = gpu::ChooseKernel<decltype(shape)::kLanes, decltype(shape)::kHeld>;
    wrong = emulate<Kernel>(gpu::least(most_blocks, gpu::parts(args.cells, Kernel::kCells)), args, order);
  });
  return done ? wrong : "too many branches";
}

/// Empty and `done` where one block routes so many cells.
inline std::string emulate_one_block(const gpu::OneBlockArgs& args, ThreadOrder order, bool& done) {
  std::string wrong;
  done = gpu::with_one_block(args, [&](auto shape) {
    wrong = emulate<gpu::RouteAndMapKernel<decltype(shape)::kLanes, decltype(shape)::kHeld>>(1, args, order);
  });
  return wrong;
}

/// As gpu::route, with at most `most_blocks` blocks a kernel.
inline std::string emulate_route(const gpu::RouteCall& call, ThreadOrder order = ThreadOrder::ascending,
                                 int most_blocks = 8) {
  const size_t bytes = gpu::route_workspace(call.cells, call.branches, call.rule);
  const AlignedMemory workspace(bytes);
  if (const gpu::Status status = gpu::check_route(call, workspace.get(), bytes); !status.ok()) return status.text();
  const gpu::IndexArgs args = gpu::index_args(call, workspace.get());
  bool done = false;
  std::string wrong = emulate_one_block({gpu::choose_args(call), args, {}}, order, done);
  if (done) return wrong;
  if (call.cells > 0) {
    wrong = emulate_choose(gpu::choose_args(call), order, most_blocks);
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
