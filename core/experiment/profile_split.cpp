#include "core/experiment/profile_split.h"

#include <set>

#include "core/base/error.h"

namespace stormcell {

ProfileSplit split_batches(int64_t count, const std::string& rule) {
  if (rule != "strided" && rule != "first") bad_input("--profile-split", "\"" + rule + "\" is no way to split", "use strided or first");
  ProfileSplit split{rule, {}, {}, count == 1};
  const int64_t quarter = (count + 3) / 4;
  for (int64_t b = 0; b < count; ++b)
    (rule == "first" ? b < quarter : b % 4 == 0) ? split.profiled.push_back(b) : split.measured.push_back(b);
  if (split.same) split.measured = split.profiled;
  return split;
}

SplitFigures figures_of(const ProfileSplit& split) {
  return {split.rule, static_cast<int64_t>(split.profiled.size()), static_cast<int64_t>(split.measured.size()), split.same};
}

std::vector<int64_t> one_of_each_size(const Dataset& data, const std::vector<int64_t>& batches) {
  std::vector<int64_t> first;
  std::set<PictureSize> met;
  for (const int64_t b : batches)
    if (met.insert(data.picture_size(b)).second) first.push_back(b);
  return first;
}

}  // namespace stormcell
