#include "core/planning/advice.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/base/listed_words.h"
#include "core/planning/placement_search.h"
#include "core/summary/table_times.h"

namespace stormcell {
namespace {

/// The held-out figures if there are any, else those of the fitted data.
const LayoutFigures& judged_by(const LayoutLine& line) { return line.held_out ? *line.held_out : line.fit; }

/// The layouts that the advice chooses among.
struct Choice {
  const LayoutFigures &stay, &eplb, &result;
  LayoutRole stays;  // contiguous or from
  std::string where, staying;

  const LayoutFigures& of(LayoutRole role) const {
    return role == LayoutRole::eplb ? eplb : role == LayoutRole::result ? result : stay;
  }
  /// Whether two layouts agree in every figure.
  bool same(LayoutRole a, LayoutRole b) const {
    const LayoutFigures &one = of(a), &other = of(b);
    return one.imbalance == other.imbalance && one.cross_pairs == other.cross_pairs &&
           one.ranks_per_token == other.ranks_per_token && one.objective_ms == other.objective_ms;
  }
};

using PairedFigure = std::optional<PairedDifference> PairedFigures::*;

/// The difference of two layouts, in whichever order the pair was compared. Null: not known.
std::optional<PairedDifference> difference(const PlaceFigures& f, LayoutRole a, LayoutRole b, PairedFigure figure) {
  for (const PairedFigures& d : f.differences)
    if ((d.one == a && d.other == b) || (d.one == b && d.other == a)) return d.*figure;
  return {};
}

/// The end of an advice: the layouts from which the chosen one may differ by chance alone, and those of which nobody
/// knows. Layouts that agree with it in every figure do not count.
std::string by_chance(const PlaceFigures& f, const Choice& c, LayoutRole chosen,
                      std::initializer_list<PairedFigure> figures) {
  if (f.paired_by.empty()) return {};
  std::vector<std::string> chance, unknown;
  for (const LayoutRole other : {c.stays, LayoutRole::eplb, LayoutRole::result}) {
    if (other == chosen || c.same(other, chosen)) continue;
    bool may_be = false, known = true;
    for (const PairedFigure figure : figures) {
      const std::optional<PairedDifference> d = difference(f, chosen, other, figure);
      known = known && d, may_be = may_be || (d && d->may_be_chance());
    }
    const std::string name(other == LayoutRole::from ? "the current layout" : to_text(other));
    if (may_be) chance.push_back(name);
    if (!may_be && !known) unknown.push_back(name);
  }
  std::string out;
  if (!chance.empty())
    out += "; the difference from " + joined(chance, " and ") + " may be chance (" + f.paired_by + ", 95 %)";
  if (!unknown.empty()) out += "; whether the difference from " + joined(unknown, " and ") + " is chance is not known";
  return out;
}

/// The search by traffic is worth its slots if it saves traffic, stays about as even as the EPLB rule, and its steps
/// are not dearer by more than chance.
std::optional<std::string> advice_on_traffic(const PlaceFigures& f, const Choice& c) {
  if (!c.result.ranks_per_token || f.aim != PlacementAim::traffic) return {};
  const bool less = *c.result.ranks_per_token < std::min(*c.stay.ranks_per_token, *c.eplb.ranks_per_token) &&
                    *c.result.cross_pairs < std::min(*c.stay.cross_pairs, *c.eplb.cross_pairs);
  if (!less || c.result.imbalance > c.eplb.imbalance + kAboutAsEven) return {};
  std::string steps;
  if (c.stay.objective_ms && c.eplb.objective_ms && c.result.objective_ms) {
    const bool eplb = *c.eplb.objective_ms < *c.stay.objective_ms;
    const LayoutRole other = eplb ? LayoutRole::eplb : c.stays;
    const double cheaper = *c.of(other).objective_ms, own = *c.result.objective_ms;
    const TableTimes times(f.objectives_ms());
    const std::string taken = times.text(own) + " " + times.unit(), name = eplb ? "the EPLB rule's" : c.staying;
    const std::optional<PairedDifference> d = difference(f, LayoutRole::result, other, &PairedFigures::objective_ms);
    if (own > cheaper && (!d || !d->may_be_chance()))
      return std::string(eplb ? "eplb" : "stay") + ": the result has less traffic than both, but its steps take " +
             taken + " where those of " + name + " take " + times.text(cheaper) + ", " + c.where +
             (d ? "" : "; whether that is chance is not known");
    steps = "; its steps take " + taken + ", those of " + name + " " + times.text(cheaper);
  }
  return "result: less traffic than both, and about as even as the EPLB rule (within 0.05), " + c.where + steps +
         by_chance(f, c, LayoutRole::result, {&PairedFigures::cross_pairs, &PairedFigures::ranks_per_token});
}

/// Chooses the layout with the cheapest steps; staying, then the EPLB rule, win a tie. Null: a cost is not known.
std::optional<std::string> advice_on_cost(const PlaceFigures& f, const Choice& c) {
  const std::optional<double> stay = c.stay.objective_ms, eplb = c.eplb.objective_ms, result = c.result.objective_ms;
  if (!stay || !eplb || !result) return {};
  constexpr double kSame = 1 - 1e-9;
  const auto chance = [&](LayoutRole chosen) { return by_chance(f, c, chosen, {&PairedFigures::objective_ms}); };
  if (*result < std::min(*stay, *eplb) * kSame)
    return "result: its steps cost least, " + c.where + chance(LayoutRole::result);
  if (*eplb < *stay * kSame)
    return "eplb: the steps of what its rule gives cost least, " + c.where + chance(LayoutRole::eplb);
  return "stay: no layout has cheaper steps than " + c.staying + ", " + c.where + chance(c.stays);
}

}  // namespace

std::string advice_of(const PlaceFigures& f) {
  const LayoutLine *from = f.find(LayoutRole::from), *result = f.find(LayoutRole::result);
  const Choice c{judged_by(from ? *from : *f.find(LayoutRole::contiguous)),
                 judged_by(*f.find(LayoutRole::eplb)),
                 judged_by(*result),
                 from ? LayoutRole::from : LayoutRole::contiguous,
                 result->held_out ? "on what was held out" : "on what it was fitted to: nothing was held out",
                 from ? "the current one" : "the contiguous one"};
  if (f.aim != PlacementAim::traffic)
    if (auto advice = advice_on_cost(f, c)) return *advice;
  if (auto advice = advice_on_traffic(f, c)) return *advice;
  const auto chance = [&](LayoutRole chosen) { return by_chance(f, c, chosen, {&PairedFigures::imbalance}); };
  if (c.stay.imbalance <= c.eplb.imbalance && c.stay.imbalance <= c.result.imbalance)
    return "stay: nothing is more even than " + std::string(from ? "the current layout " : "the contiguous layout ") +
           c.where + chance(c.stays);
  if (c.eplb.imbalance <= c.result.imbalance)
    return "eplb: nothing is more even than what its rule gives " + c.where + chance(LayoutRole::eplb);
  return "result: it is the most even one " + c.where + chance(LayoutRole::result);
}

}  // namespace stormcell
