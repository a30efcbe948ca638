#include "core/runtime/memory_plan.h"

#include <algorithm>
#include <utility>

#include "core/base/align.h"
#include "core/base/id_vector.h"
#include "core/runtime/row_loans.h"
#include "core/runtime/state_rows.h"

namespace stormcell {
namespace {
/// Placed buffers by the stretches of steps they live in: most live for a few steps, and meet few of thousands.
class PlacedBuffers {
 public:
  PlacedBuffers(const Program& program, const IdVector<BufferId, int32_t>& last)
      : program_(program), last_(last), stretches_(program.steps.size() / kSteps + 1) {}
  void add(size_t buffer) {
    for (size_t s = stretch(first_of(buffer)); s <= stretch(last_[buffer]); ++s) stretches_[s].push_back(buffer);
  }
  void alive_with(size_t buffer, std::vector<size_t>& alive) const {
    const int32_t first = first_of(buffer), last = last_[buffer];
    alive.clear();
    for (size_t s = stretch(first); s <= stretch(last); ++s)
      for (const size_t other : stretches_[s]) {
        // Once, in the first stretch that both live in.
        const bool is_first = s == std::max(stretch(first), stretch(first_of(other)));
        if (is_first && first_of(other) <= last && first <= last_[other]) alive.push_back(other);
      }
  }

 private:
  static constexpr size_t kSteps = 32;
  static size_t stretch(int32_t step) { return static_cast<size_t>(step) / kSteps; }
  int32_t first_of(size_t i) const { return program_.buffers[i].first; }
  const Program& program_;
  const IdVector<BufferId, int32_t>& last_;
  std::vector<std::vector<size_t>> stretches_;
};

class Planner {
 public:
  Planner(const Program& program, const Bindings& bounds) : program_(program) {
    plan_.offset.assign(program.buffers.size(), -1);
    for (const ProgramBuffer& b : program.buffers) {
      size_.add(align_up(std::max<int64_t>(b.bytes.evaluate(bounds), 1)));
      plan_.last.add(b.last);
    }
    for (size_t i = 0; i < size_.size(); ++i) {
      const BufferKind kind = program.buffers[i].kind;
      if (kind == BufferKind::arena) order_.push_back(i);
      if (kind == BufferKind::state) plan_.offset[i] = std::exchange(plan_.state_bytes, plan_.state_bytes + size_[i]);
    }
    for (const OperandId paged : program.paged) {
      const Operand& o = program.operands[paged];
      const int64_t places = program.dims[o.per_parent].evaluate(bounds), rows = program.dims[o.rows].evaluate(bounds);
      plan_.page_bytes += places > 0 ? rows / places * pages_for(places) * kPageRows * o.row_bytes() : 0;
    }
  }

  MemoryPlan run(SentRows rows) {
    plan_.live_set_bytes = live_set();
    arrange();
    if (rows == SentRows::lent) lend();
    return std::move(plan_);
  }

 private:
  static constexpr double kMostLent = 1.14;  ///< factor of the live set, with rows lent
  static constexpr size_t kRounds = 16, kMostPlacements = 100'000;

  // Large buffers come first, then the long-lived first. The buffer that ends up highest is moved to the front, and all
  // are placed again, a few times.
  void arrange() {
    plan_.arena_bytes = order_.empty() ? 0 : INT64_MAX;
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return size_[a] > size_[b]; });
    improve(order_);
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return life(a) > life(b); });
    improve(order_);
  }

  /// Lends rows if the arena stays nearly the same size, though buffers then live longer. The bytes alive at one step
  /// do not grow, but a buffer that fits into no gap may enlarge the arena by one or two maps.
  void lend() {
    MemoryPlan copying = plan_;
    plan_.loans = lend_rows(program_, size_, plan_.live_set_bytes, plan_.last);
    if (plan_.last == copying.last) return;
    arrange();
    const auto most = static_cast<int64_t>(kMostLent * static_cast<double>(plan_.live_set_bytes));
    if (plan_.arena_bytes > std::max(copying.arena_bytes, most)) plan_ = std::move(copying);
  }

  int32_t life(size_t i) const { return plan_.last[i] - program_.buffers[i].first; }
  bool good_enough() const { return plan_.arena_bytes - plan_.live_set_bytes <= plan_.live_set_bytes / 64; }

  int64_t live_set() const {
    std::vector<int64_t> delta(program_.steps.size() + 2, 0);
    for (const size_t i : order_) {
      delta[program_.buffers[i].first] += size_[i];
      delta[plan_.last[i] + 1] -= size_[i];
    }
    int64_t live = 0, most = 0;
    for (const int64_t d : delta) most = std::max(most, live += d);
    return most;
  }

  void improve(std::vector<size_t> order) {
    const size_t rounds = std::clamp<size_t>(kMostPlacements / std::max<size_t>(order.size(), 1), 1, kRounds);
    for (size_t round = 0; round < rounds && !good_enough(); ++round) {
      const size_t highest = place(order);
      std::rotate(order.begin(), order.begin() + highest, order.begin() + static_cast<std::ptrdiff_t>(highest) + 1);
    }
  }

  /// Each buffer into the smallest gap between those that are alive with it, else above them. Keeps the plan where it
  /// is the best so far; gives the place in `order` of the first buffer that ends at the top.
  size_t place(const std::vector<size_t>& order) {
    std::vector<int64_t> offset(size_.size(), 0);
    PlacedBuffers placed(program_, plan_.last);
    std::vector<size_t> alive;
    int64_t top = 0;
    size_t highest = 0;
    for (size_t n = 0; n < order.size(); ++n) {
      const size_t i = order[n];
      placed.alive_with(i, alive);
      std::sort(alive.begin(), alive.end(), [&](size_t x, size_t y) { return offset[x] < offset[y]; });
      int64_t best = -1, best_gap = INT64_MAX, end = 0;
      for (const size_t p : alive) {
        const int64_t gap = offset[p] - end;
        if (gap >= size_[i] && gap < best_gap) best = end, best_gap = gap;
        end = std::max(end, offset[p] + size_[p]);
      }
      offset[i] = best >= 0 ? best : end;
      if (offset[i] + size_[i] > top) top = offset[i] + size_[i], highest = n;
      placed.add(i);
    }
    if (top < plan_.arena_bytes) {
      plan_.arena_bytes = top;
      for (const size_t i : order) plan_.offset[i] = offset[i];
    }
    return highest;
  }

  const Program& program_;
  IdVector<BufferId, int64_t> size_;
  std::vector<size_t> order_;  // the buffers of the arena
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan plan_memory(const Program& program, const Bindings& bounds, SentRows rows) {
  return Planner(program, bounds).run(rows);
}

}  // namespace stormcell
