#include "core/passes/constant_branches.h"

#include <cmath>
#include <cstdio>

#include "core/base/binomial_bound.h"
#include "core/base/counted.h"
#include "core/passes/profiled_branches.h"

namespace stormcell {

ConstantBranches constant_branches(const PassInput& input, std::string_view pass) {
  ConstantBranches constant;
  if (input.parameters) {
    for (const auto& [router, branches] : *input.parameters)
      constant.taken[router] = branches_named(input.graph, pass, router, branches);
    return constant;
  }
  for (const auto& [router, load] : input.profile.routers) {
    const auto [loads, cells] = load_in_use(load, decides_about_real_cells(input.graph, router));
    if (cells == 0) continue;
    std::vector<int32_t> taken;
    bool same = true;
    for (size_t b = 0; b < loads.size(); ++b) {
      if (loads[b] == cells) taken.push_back(static_cast<int32_t>(b));
      same = same && (loads[b] == 0 || loads[b] == cells);
    }
    if (!same) continue;
    if (static_cast<double>(cells) < input.option(kLeastCells)) {
      ++constant.seen_less;
      continue;
    }
    constant.taken[router] = std::move(taken);
    constant.cells[router] = cells;
  }
  return constant;
}

std::string otherwise_text(int64_t otherwise, int64_t cells, std::string_view which) {
  // Two digits, rounded upwards: a bound must not be printed as less than it is.
  const double bound = 100 * binomial_upper_bound(otherwise, cells),
               step = std::pow(10, std::floor(std::log10(bound)) - 1);
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.2g", std::ceil(bound / step - 1e-9) * step);
  return with_commas(otherwise) + " of " + with_commas(cells) + " " + std::string(which) +
         " cells otherwise, at most " + percent + " % at 95 %";
}

}  // namespace stormcell
