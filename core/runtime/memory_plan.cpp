#include "core/runtime/memory_plan.h"

#include <algorithm>

namespace stormcell {
namespace {
int64_t aligned(int64_t bytes) { return (std::max<int64_t>(bytes, 1) + 63) / 64 * 64; }
}  // namespace

MemoryPlan plan_memory(const Program& program, const Bindings& bounds) {
  MemoryPlan plan;
  const auto count = program.buffers.size();
  plan.offset.assign(count, -1);
  std::vector<int64_t> size(count);
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) {
    size[i] = aligned(program.buffers[i].bytes.evaluate(bounds));
    if (program.buffers[i].kind == BufferKind::state) {
      plan.offset[i] = plan.state_bytes;
      plan.state_bytes += size[i];
    } else if (program.buffers[i].kind == BufferKind::arena) {
      order.push_back(i);
    }
  }
  // The live-set bound, by sweeping over the steps.
  std::vector<int64_t> delta(program.steps.size() + 2, 0);
  for (const size_t i : order) {
    delta[static_cast<size_t>(program.buffers[i].first)] += size[i];
    delta[static_cast<size_t>(program.buffers[i].last) + 1] -= size[i];
  }
  int64_t live = 0;
  for (const int64_t d : delta) plan.live_set_bytes = std::max(plan.live_set_bytes, live += d);

  // Large buffers first, each at the lowest gap between those that are alive at the same time: within a few per cent of the bound on
  // transformer graphs, where sizes are few.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return size[a] > size[b]; });
  std::vector<size_t> placed, alive;
  for (const size_t i : order) {
    const ProgramBuffer& b = program.buffers[i];
    alive.clear();
    for (const size_t p : placed)
      if (program.buffers[p].first <= b.last && b.first <= program.buffers[p].last) alive.push_back(p);
    std::sort(alive.begin(), alive.end(), [&](size_t x, size_t y) { return plan.offset[x] < plan.offset[y]; });
    int64_t best = -1, best_gap = INT64_MAX, end = 0;
    for (const size_t p : alive) {
      const int64_t gap = plan.offset[p] - end;
      if (gap >= size[i] && gap < best_gap) best = end, best_gap = gap;
      end = std::max(end, plan.offset[p] + size[p]);
    }
    plan.offset[i] = best >= 0 ? best : end;
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offset[i] + size[i]);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace stormcell
