// Which batches an optimisation profiles and which it measures: a plan is judged on batches that it was not made from.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/summary/results.h"

namespace stormcell {

struct ProfileSplit {
  std::string rule;  ///< strided, first
  std::vector<int64_t> profiled, measured;
  bool same = false;  ///< one batch alone: it is profiled and measured
  /// number of batches that are not profiled; it includes those that a time limit leaves out of `measured`
  int64_t held_out = 0;
  /// What the session keeps of a batch: kProfiled, kMeasured or both.
  uint8_t part_of(int64_t batch) const;
};

/// "strided": batches i with i mod 4 = 0 are profiled. "first": the first quarter is, rounded up, so that what changes
/// along the data shows. The others are measured. Error(bad_input) naming --profile-split for another rule; `count` is
/// at least 1.
ProfileSplit split_batches(int64_t count, const std::string& rule);
SplitFigures figures_of(const ProfileSplit& split);

/// Their numbers, in the data's order.
std::vector<int64_t> all_batches(const Dataset& data);
/// Of these batches the first one of each size of picture, in their order; of data without pictures the first one.
std::vector<int64_t> one_of_each_size(const Dataset& data, const std::vector<int64_t>& batches);

}  // namespace stormcell
