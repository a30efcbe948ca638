#include "views/drawing/branch_colors.h"

#include <algorithm>
#include <numeric>

namespace stormcell::views {

std::vector<int> load_ranks(std::span<const int64_t> load) {
  if (std::ssize(load) <= Theme::kCategories) return {};
  std::vector<int> order(load.size()), ranks(load.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return load[a] > load[b]; });
  for (int rank = 0; rank < std::ssize(order); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

QColor branch_color(int branch, const std::vector<int>& ranks, const Theme& theme) {
  if (ranks.empty()) return theme.category(branch);
  if (branch < 0 || branch >= std::ssize(ranks)) return theme.faint;
  // The last rank must still differ from the background.
  constexpr double kPalest = 0.12;
  return theme.sequential(1 - (1 - kPalest) * ranks[branch] / static_cast<double>(ranks.size() - 1));
}

}  // namespace stormcell::views
