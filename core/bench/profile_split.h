// The batches that an optimisation profiles, and those that it measures: a plan is judged on batches that it was not
// made from.
#pragma once
#include <cstdint>
#include <vector>

#include "core/data/dataset.h"
#include "core/summary/results.h"
#include "core/summary/split_rule.h"

namespace stormcell {

struct ProfileSplit {
  SplitRule rule = SplitRule::strided;
  std::vector<int64_t> profiled, measured;
  bool same = false;  ///< one batch alone: it is profiled and measured
  /// number of batches that are not profiled; it includes those that a time limit leaves out of `measured`
  int64_t held_out = 0;
  /// The part of a batch in the session: kProfiled, kMeasured or both.
  uint8_t part_of(int64_t batch) const;
};

/// SplitRule::first rounds its quarter up, so that what changes along the data shows. Batches that are not profiled are
/// measured. `count` is at least 1.
ProfileSplit split_batches(int64_t count, SplitRule rule);
SplitFigures figures_of(const ProfileSplit& split);

/// Numbers of all batches, in the data's order.
std::vector<int64_t> all_batches(const Dataset& data);
/// The first of these batches for each size of picture, in their order; without pictures the first batch.
std::vector<int64_t> one_of_each_size(const Dataset& data, const std::vector<int64_t>& batches);

}  // namespace stormcell
