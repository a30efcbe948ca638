#include "core/cell/capacity.h"

#include <algorithm>

namespace stormcell {

int32_t capacity_of(double factor, int64_t cells, int32_t branches) {
  const int64_t even_share = (cells + branches - 1) / branches;
  // A large factor serves everybody: more cells than there are would leave the range of the result.
  return static_cast<int32_t>(std::min(factor * static_cast<double>(even_share), static_cast<double>(cells)));
}

void serve_first(DecisionView& d, int64_t cells, const ParentMap& parents, int32_t capacity) {
  int32_t* served = d.counters();
  int64_t current = -1;
  for (int64_t c = 0; c < cells; ++c) {
    const int64_t parent = parents.of(c);
    if (parent != current) {
      std::fill_n(served, d.branches, 0);
      current = parent;
    }
    for (int32_t j = 0; j < d.fan_out; ++j) {
      int32_t& choice = d.choice[c * d.fan_out + j];
      if (is_kept(choice) && ++served[choice] > capacity) choice = dropped_from(choice);
    }
  }
}

void serve_most_confident(DecisionView& d, int64_t cells, int32_t capacity) {
  for (int64_t c = 0; c < cells; ++c) d.scratch[c] = static_cast<int32_t>(c);
  std::sort(d.scratch, d.scratch + cells, [&](int32_t a, int32_t b) {
    return d.choice_weight[a] != d.choice_weight[b] ? d.choice_weight[a] > d.choice_weight[b] : a < b;
  });
  int32_t* served = d.counters();
  std::fill_n(served, d.branches, 0);
  for (int64_t i = 0; i < cells; ++i) {
    int32_t& choice = d.choice[d.scratch[i]];
    if (++served[choice] > capacity) choice = dropped_from(choice);
  }
}

int32_t padded_load(int32_t n, int32_t branch, const CapacityGrid& grid) {
  if (grid.supported.empty()) return n;
  if (grid.path_wise && grid.padding) return grid.supported[branch];
  const int32_t most = grid.supported.back();
  if (!grid.padding) return std::min(n, most);
  if (n == 0) return 0;
  const auto fits = std::lower_bound(grid.supported.begin(), grid.supported.end(), n);
  return fits == grid.supported.end() ? most : *fits;
}

void pad_loads(DecisionView& d, const CapacityGrid& grid) {
  for (int32_t b = 0; b < d.branches; ++b) d.padded[b] = padded_load(d.load(b), b, grid);
}

}  // namespace stormcell
