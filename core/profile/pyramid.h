// The windows of one router that are still being filled, one a level.
#pragma once
#include <functional>
#include <vector>

#include "core/profile/loads.h"
#include "core/profile/pair_counter.h"

namespace stormcell {

/// Loads: add() one batch at a time, in ascending order; a window is handed out when a batch of a later one comes, or
/// at finish().
class LoadPyramid {
 public:
  using Out = std::function<void(int32_t level, int64_t window, const RouterLoads& loads)>;
  void add(int64_t batch, const RouterLoads& loads, const Out& out);
  void finish(const Out& out);

 private:
  struct Level {
    int64_t window = -1;
    RouterLoads loads;
  };
  void close(int32_t level, const Out& out);
  void push(int32_t level, int64_t child, const RouterLoads& loads, const Out& out);
  std::vector<Level> levels_;
};

/// Pair tables: counts are collected in a PairCounter over a window of `base_level`, then merged upwards.
/// The base level grows with the number of pairs, so that tables take no more room than the decisions they come from.
class PairPyramid {
 public:
  using Out = std::function<void(int32_t level, int64_t window, int64_t batches, const PairTable& table)>;
  PairPyramid(int32_t rows, int32_t columns) : counter_(rows, columns) {}
  /// Closes what `batch` is past, then counts it; add its pairs to counter(). `choices`: the most choices a batch
  /// makes, looked at first time.
  void begin(int64_t batch, int64_t choices, const Out& out);
  PairCounter& counter() { return counter_; }
  void finish(const Out& out);
  /// Everything counted so far.
  PairTable total() const;

 private:
  struct Level {
    int64_t window = -1, batches = 0;
    PairTable table;
  };
  void drain(const Out& out);
  void close(int32_t level, const Out& out);
  void push(int32_t level, int64_t child, int64_t batches, const PairTable& table, const Out& out);
  PairCounter counter_;
  int32_t base_level_ = -1;
  int64_t window_ = -1, batches_ = 0;
  std::vector<Level> levels_;  // those above base_level_ are used
  PairTable total_;
};

}  // namespace stormcell
