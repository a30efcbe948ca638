#include "core/planning/advice.h"

#include <algorithm>
#include <optional>

#include "core/planning/placement_search.h"

namespace stormcell {
namespace {

/// By what judges: the rest where there is one, else what was fitted to.
const LayoutFigures& judged_by(const LayoutLine& line) { return line.held_out ? *line.held_out : line.fit; }

/// What there is to choose among.
struct Choice {
  const LayoutFigures &stay, &eplb, &result;
  std::string where, staying, stay_name;
};

/// Behind an advice against another layout: whether what speaks for it may be chance.
std::string by_chance(const PlaceFigures& f, const std::string& other, std::optional<PairedDifference> PairedFigures::*figure) {
  for (const PairedFigures& d : f.differences)
    if (d.other == other && d.*figure && (d.*figure)->may_be_chance())
      return "; the difference from " + d.other + " may be chance (" + f.paired_by + ", 95 %)";
  return {};
}

/// The search that looks at traffic is worth its slots where it saves traffic and stays about as even as the EPLB rule.
std::optional<std::string> advice_on_traffic(const PlaceFigures& f, const Choice& c) {
  if (!c.result.ranks_per_token || f.aim != "traffic") return {};
  const bool less = *c.result.ranks_per_token < std::min(*c.stay.ranks_per_token, *c.eplb.ranks_per_token) &&
                    *c.result.cross_pairs < std::min(*c.stay.cross_pairs, *c.eplb.cross_pairs);
  if (!less || c.result.imbalance > c.eplb.imbalance + kAboutAsEven) return {};
  return "result: less traffic than both, and about as even as the EPLB rule (within 0.05), " + c.where +
         by_chance(f, "eplb", &PairedFigures::cross_pairs);
}

/// Where steps are costed, the cheapest one; staying, then the EPLB rule, win a tie.
std::optional<std::string> advice_on_cost(const PlaceFigures& f, const Choice& c) {
  const std::optional<double> stay = c.stay.objective_ms, eplb = c.eplb.objective_ms, result = c.result.objective_ms;
  if (!stay || !eplb || !result) return {};
  constexpr double kSame = 1 - 1e-9;
  if (*result < std::min(*stay, *eplb) * kSame)
    return "result: its steps cost least, " + c.where + by_chance(f, *stay < *eplb ? c.stay_name : "eplb", &PairedFigures::objective_ms);
  if (*eplb < *stay * kSame) return "eplb: the steps of what its rule gives cost least, " + c.where;
  return "stay: no layout has cheaper steps than " + c.staying + ", " + c.where;
}

}  // namespace

std::string advice_of(const PlaceFigures& f) {
  const bool from = f.layouts.size() > 3;
  const Choice c{judged_by(from ? f.layouts[3] : f.layouts[0]), judged_by(f.layouts[1]), judged_by(f.layouts[2]),
                 f.layouts[2].held_out ? "on what was held out" : "on what it was fitted to: nothing was held out",
                 from ? "the one that stands now" : "the contiguous one",
                 from ? "from" : "contiguous"};
  if (f.aim != "traffic")
    if (auto advice = advice_on_cost(f, c)) return *advice;
  if (auto advice = advice_on_traffic(f, c)) return *advice;
  if (c.stay.imbalance <= c.eplb.imbalance && c.stay.imbalance <= c.result.imbalance)
    return "stay: nothing is more even than " + std::string(from ? "the layout that stands now " : "the contiguous layout ") + c.where;
  if (c.eplb.imbalance <= c.result.imbalance) return "eplb: nothing is more even than what its rule gives " + c.where;
  return "result: it is the most even one " + c.where;
}

}  // namespace stormcell
