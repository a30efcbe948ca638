#include "core/bench/profile_split.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/profile/record.h"

namespace stormcell {

ProfileSplit split_batches(int64_t count, SplitRule rule) {
  ProfileSplit split{rule, {}, {}, count == 1};
  const int64_t quarter = (count + 3) / 4;
  for (int64_t b = 0; b < count; ++b)
    (rule == SplitRule::first ? b < quarter : b % 4 == 0) ? split.profiled.push_back(b) : split.measured.push_back(b);
  if (split.same) split.measured = split.profiled;
  split.held_out = std::ssize(split.measured);
  return split;
}

uint8_t ProfileSplit::part_of(int64_t batch) const {
  if (!std::binary_search(profiled.begin(), profiled.end(), batch)) return kMeasured;
  return static_cast<uint8_t>(same ? kProfiled | kMeasured : kProfiled);
}

SplitFigures figures_of(const ProfileSplit& split) {
  return {split.rule, std::ssize(split.profiled), std::ssize(split.measured), split.same, split.held_out};
}

std::vector<int64_t> all_batches(const Dataset& data) {
  std::vector<int64_t> all(data.batch_count());
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

std::vector<int64_t> one_of_each_size(const Dataset& data, const std::vector<int64_t>& batches) {
  std::vector<int64_t> first;
  std::set<PictureSize> met;
  for (const int64_t b : batches)
    if (met.insert(data.picture_size(b)).second) first.push_back(b);
  return first;
}

}  // namespace stormcell
