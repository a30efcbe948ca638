// Routers that always decided the same way.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace stormcell {

inline constexpr PassOption kLeastCells = {
    "min-cells", "routers that decided about fewer profiled cells are not changed", PassOption::Kind::count, 32, 1,
    1e9};

/// The branches that get all cells, by router; no branch gets some of them only.
struct ConstantBranches {
  std::map<std::string, std::vector<int32_t>, std::less<>> taken;
  std::map<std::string, int64_t, std::less<>> cells;  ///< profiled, of these; empty where parameters name them
  int64_t seen_less = 0;  ///< routers that always decided the same way, about fewer cells than asked for
};
/// Routers that the parameters of `pass` name, or those of which each branch got every profiled cell or none.
ConstantBranches constant_branches(const PassInput& input, std::string_view pass);

/// The claim about `cells` of which `otherwise` did not go the usual way: "0 of 500 profiled cells otherwise, at most
/// 0.6 % at 95 %". The bound holds for cells that are independent of one another.
std::string otherwise_text(int64_t otherwise, int64_t cells, std::string_view which);

}  // namespace stormcell
