#include "core/planning/advice.h"

#include <algorithm>
#include <optional>

namespace stormcell {
namespace {

/// By what judges: the rest where there is one, else what was fitted to.
const LayoutFigures& judged_by(const LayoutLine& line) { return line.held_out ? *line.held_out : line.fit; }
double judged(const LayoutLine& line) { return judged_by(line).imbalance; }

/// Less even by no more than this, a layout with less traffic is the better one.
constexpr double kEven = 0.05;

/// The search that looks at traffic is worth its slots where it saves traffic and stays about as even as the EPLB rule.
std::optional<std::string> advice_on_traffic(const std::vector<LayoutLine>& layouts, const std::string& where) {
  const LayoutFigures &contiguous = judged_by(layouts[0]), &eplb = judged_by(layouts[1]), &result = judged_by(layouts[2]);
  if (!result.ranks_per_token || layouts[2].fit.imbalance == layouts[1].fit.imbalance) return {};
  const bool less = *result.ranks_per_token < std::min(*contiguous.ranks_per_token, *eplb.ranks_per_token) &&
                    *result.cross_pairs < std::min(*contiguous.cross_pairs, *eplb.cross_pairs);
  if (!less || result.imbalance > eplb.imbalance + kEven) return {};
  return "result: less traffic than both, and about as even as the EPLB rule (within 0.05), " + where;
}

/// Where steps are costed, the cheapest one; staying, then the EPLB rule, win a tie.
std::optional<std::string> advice_on_cost(const std::vector<LayoutLine>& layouts, const std::string& where) {
  const auto cost = [&](size_t i) { return judged_by(layouts[i]).objective_ms; };
  if (!cost(0) || !cost(1) || !cost(2)) return {};
  constexpr double kSame = 1 - 1e-9;
  if (*cost(2) < std::min(*cost(0), *cost(1)) * kSame) return "result: its steps cost least, " + where;
  if (*cost(1) < *cost(0) * kSame) return "eplb: the steps of what its rule gives cost least, " + where;
  return "stay: no layout has cheaper steps than the contiguous one, " + where;
}

}  // namespace

std::string advice_of(const std::vector<LayoutLine>& layouts) {
  const double contiguous = judged(layouts[0]), eplb = judged(layouts[1]), result = judged(layouts[2]);
  const std::string where = layouts[2].held_out ? "on what was held out" : "on what it was fitted to: nothing was held out";
  if (auto advice = advice_on_cost(layouts, where)) return *advice;
  if (auto advice = advice_on_traffic(layouts, where)) return *advice;
  if (contiguous <= eplb && contiguous <= result) return "stay: nothing is more even than the contiguous layout " + where;
  if (eplb <= result) return "eplb: nothing is more even than what its rule gives " + where;
  return "result: it is the most even one " + where;
}

}  // namespace stormcell
