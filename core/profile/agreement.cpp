#include "core/profile/agreement.h"

#include <algorithm>

#include "core/cell/decision.h"

namespace stormcell {

void Agreement::add(std::span<const int32_t> earlier, std::span<const int32_t> last) {
  int64_t chosen = 0;
  for (const int32_t choice : last) {
    const int32_t branch = branch_of(choice);
    if (branch == kNoBranch) continue;
    ++chosen, ++last_[branch];
    common_ += std::any_of(earlier.begin(), earlier.end(), [branch](int32_t c) { return branch_of(c) == branch; });
  }
  if (chosen == 0) return;
  for (const int32_t choice : earlier)
    if (choice != kNoBranch) ++earlier_[branch_of(choice)], ++choices_earlier_;
  ++cells_, choices_ += chosen;
  first_ += !earlier.empty() && branch_of(earlier[0]) == branch_of(last[0]);
}

std::optional<double> Agreement::share() const {
  if (choices_ == 0) return {};
  return static_cast<double>(common_) / static_cast<double>(choices_);
}
std::optional<double> Agreement::first_share() const {
  if (cells_ == 0) return {};
  return static_cast<double>(first_) / static_cast<double>(cells_);
}
std::optional<double> Agreement::share_by_load() const {
  if (cells_ == 0) return {};
  double together = 0;
  const auto cells = static_cast<double>(cells_);
  for (size_t b = 0; b < last_.size(); ++b)
    together += static_cast<double>(earlier_[b]) * static_cast<double>(last_[b]) / cells;
  return together / static_cast<double>(choices_);
}

}  // namespace stormcell
