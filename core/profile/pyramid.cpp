#include "core/profile/pyramid.h"

#include "core/profile/statistics.h"

namespace stormcell {
namespace {
// 4^15 = 10^9 batches: no run has more than one window there.
constexpr int32_t kLevels = 16, kFinestPairs = 2, kCoarsestPairs = 6;
}  // namespace

void LoadPyramid::close(int32_t level, const Out& out) {
  Level& l = levels_[level];
  if (l.window < 0) return;
  out(level, l.window, l.loads);
  if (level + 1 < kLevels) push(level + 1, l.window, l.loads, out);
  l.window = -1;
  l.loads.clear();
}

// Adds a window of the level below. One that completes its parent closes it at once.
void LoadPyramid::push(int32_t level, int64_t child, const RouterLoads& loads, const Out& out) {
  Level& l = levels_[level];
  const int64_t window = child >> kWindowBits;
  if (l.window != window) close(level, out);
  l.window = window;
  l.loads.add(loads);
  if ((child + 1) >> kWindowBits != window) close(level, out);
}

void LoadPyramid::add(int64_t batch, const RouterLoads& loads, const Out& out) {
  if (levels_.empty()) {
    levels_.resize(kLevels);
    for (Level& l : levels_) l.loads = RouterLoads(loads.branches());
  }
  out(0, batch, loads);
  push(1, batch, loads, out);
}

void LoadPyramid::finish(const Out& out) {
  for (int32_t level = 1; level < static_cast<int32_t>(levels_.size()); ++level) close(level, out);
}

void PairPyramid::begin(int64_t batch, int64_t choices, const Out& out) {
  if (base_level_ < 0) {
    const int64_t pairs = static_cast<int64_t>(counter_.rows()) * counter_.columns();
    base_level_ = kFinestPairs;
    while (base_level_ < kCoarsestPairs && (choices * 2 << (kWindowBits * base_level_)) < pairs) ++base_level_;
    levels_.resize(kLevels);
    total_.rows = counter_.rows();
    total_.columns = counter_.columns();
  }
  const int64_t window = window_of(batch, base_level_);
  if (window_ >= 0 && window != window_) drain(out);
  window_ = window;
  ++batches_;
}

void PairPyramid::close(int32_t level, const Out& out) {
  Level& l = levels_[level];
  if (l.window < 0) return;
  out(level, l.window, l.batches, l.table);
  if (level + 1 < kLevels) push(level + 1, l.window, l.batches, l.table, out);
  l.window = -1;
  l.batches = 0;
  l.table.entries.clear();
}

void PairPyramid::push(int32_t level, int64_t child, int64_t batches, const PairTable& table, const Out& out) {
  Level& l = levels_[level];
  const int64_t window = child >> kWindowBits;
  if (l.window != window) close(level, out);
  l.window = window;
  l.batches += batches;
  l.table.rows = table.rows;
  l.table.columns = table.columns;
  l.table.add(table);
  if ((child + 1) >> kWindowBits != window) close(level, out);
}

void PairPyramid::drain(const Out& out) {
  const PairTable table = counter_.take();
  out(base_level_, window_, batches_, table);
  total_.add(table);
  push(base_level_ + 1, window_, batches_, table, out);
  window_ = -1;
  batches_ = 0;
}

void PairPyramid::finish(const Out& out) {
  if (window_ >= 0) drain(out);
  for (int32_t level = base_level_ + 1; level < static_cast<int32_t>(levels_.size()); ++level) close(level, out);
}

PairTable PairPyramid::total() const {
  PairCounter pending = counter_;
  PairTable all = total_;
  all.rows = counter_.rows();
  all.columns = counter_.columns();
  all.add(pending.take());
  return all;
}

}  // namespace stormcell
