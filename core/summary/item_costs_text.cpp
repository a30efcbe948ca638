#include "core/summary/item_costs_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/summary/exits_text.h"
#include "core/summary/items_text.h"
#include "core/summary/percent_text.h"

namespace stormcell {
namespace {

/// Fewer items show no difference that would be worth a headline: drawing 6 of them anew says little of others.
constexpr int64_t kFew = 10;
constexpr size_t kFewGroups = 4;

std::string share_text(double share, const std::optional<std::array<double, 2>>& ci) {
  return percent_text(share) + (ci ? fmt::format(" [{:.1f}, {:.1f}]", 100 * (*ci)[0], 100 * (*ci)[1]) : "");
}

std::string amount(double operations) {
  if (operations >= 1e9) return fmt::format("{:.3g} billion", operations / 1e9);
  if (operations >= 1e6) return fmt::format("{:.3g} million", operations / 1e6);
  return with_commas(std::llround(operations));
}

std::string items_of(const ItemCostFigures& c) { return noun_for(2, c.item); }
/// The name of LargestBranch's branches: as many as the run's routers send a cell to.
std::string largest_name(const std::vector<RouterFigures>& routing) {
  const auto [least, most] =
      std::minmax_element(routing.begin(), routing.end(),
                          [](const RouterFigures& a, const RouterFigures& b) { return a.fan_out < b.fan_out; });
  if (routing.empty() || most->fan_out == 1) return "the largest branch";
  if (least->fan_out < most->fan_out) return "the largest branches of each router";
  return "the " + (most->fan_out == 2 ? "two" : std::to_string(most->fan_out)) + " largest branches";
}
/// "86.1 % of the operations of a network with only the largest branch".
std::string largest_text(const RunSummaryFigures& f) {
  return percent_text(f.item_costs->largest_branch->share) + " of the operations of a network with only " +
         largest_name(f.routing);
}
/// "86.1 % [85.0, 87.2] of the 12.5 million of a network with only the largest branch and no router".
std::string largest_line(const RunSummaryFigures& f) {
  const LargestBranch& largest = *f.item_costs->largest_branch;
  return share_text(largest.share, largest.share_ci95) + " of the " + amount(largest.operations) +
         " of a network with only " + largest_name(f.routing) + " and no router";
}

/// Whether about as much is spared of every item: then it does not matter which items they are.
bool hardly_varies(const ItemCostFigures& c) { return c.most.share < 1.1 * c.least.share; }
bool varies(const ItemCostFigures& c) { return percent_text(c.least.share) != percent_text(c.most.share); }

/// False without figures, too.
bool is_spared(const RunSummaryFigures& f) {
  return f.item_costs && percent_text(f.item_costs->share) != percent_text(1);
}

/// Whether its interval leaves no doubt on which side more is spent.
bool is_told(const GroupSpent& g) {
  return g.without && g.fewer_ci95 && (*g.fewer_ci95)[0] * (*g.fewer_ci95)[1] > 0 &&
         std::min(g.with.items, g.without->items) >= kFew;
}

/// The only class whose items are compared with items without it; null: there are none or several.
const GroupSpent* only_compared(const ItemCostFigures& c) {
  const GroupSpent* only = nullptr;
  for (const GroupSpent& g : c.groups) {
    if (!g.without) continue;
    if (only) return nullptr;
    only = &g;
  }
  return only;
}

/// The class on which more is spent, or less, than on items without it; null: none is named.
const GroupSpent* told_group(const ItemCostFigures& c) {
  const GroupSpent* g = only_compared(c);
  return g && g->fewer && c.alike && is_told(*g) ? g : nullptr;
}

/// Standard error of the share of one item, as all groups together have it: of few items a single group's is anything.
double error_of_item(const std::vector<const GroupSpent*>& groups) {
  double sum = 0;
  for (const GroupSpent* g : groups) {
    const double error = ((*g->with.share_ci95)[1] - (*g->with.share_ci95)[0]) / (2 * 1.96);
    sum += error * error * static_cast<double>(g->with.items);
  }
  return std::sqrt(sum / static_cast<double>(groups.size()));
}

/// How many standard errors apart the smallest and the largest of so many alike groups lie less often than once in 20
/// times: every pair of them has its part of the 5 % (Bonferroni), and a normal deviate exceeds z with at most exp(-z^2
/// / 2) / 2.
double far_apart(size_t groups) {
  const double pairs = static_cast<double>(groups) * (groups - 1) / 2;
  return std::sqrt(2 * std::log(pairs / 0.05));
}

/// The classes with the least and the most spent, if classes exclude each other; nothing: they are too close. They are
/// the ends of a list, and so differ even if all classes are alike.
std::optional<std::pair<const GroupSpent*, const GroupSpent*>> least_and_most(const ItemCostFigures& c) {
  std::vector<const GroupSpent*> groups;
  for (const GroupSpent& g : c.groups)
    if (!g.without && g.with.share_ci95 && g.with.items >= kFew) groups.push_back(&g);
  if (groups.size() < 2) return std::nullopt;
  const auto [least, most] =
      std::minmax_element(groups.begin(), groups.end(),
                          [](const GroupSpent* a, const GroupSpent* b) { return a->with.share < b->with.share; });
  const double apart = (*most)->with.share - (*least)->with.share, one = error_of_item(groups);
  const auto error = [&](const GroupSpent& g) { return one / std::sqrt(static_cast<double>(g.with.items)); };
  if (apart <= far_apart(groups.size()) * std::hypot(error(**least), error(**most))) return std::nullopt;
  return std::pair(*least, *most);
}

std::string by_label_text(const std::pair<const GroupSpent*, const GroupSpent*>& ends) {
  return "least on those labelled " + ends.first->name + " (" + spent_text(ends.first->with) +
         "), most on those labelled " + ends.second->name + " (" + spent_text(ends.second->with) + ")";
}

std::string served_text(const ItemCostFigures& c) {
  return "branches have room for " + percent_text(*c.served) + " of the cells that are sent to them";
}

FigureTile spent_tile(const RunSummaryFigures& f) {
  FigureTile tile{.title = "Operations spent", .value = {}, .more = {}};
  if (f.exits && !f.exits->exits.empty()) {
    tile.value = percent_text(f.exits->chosen.mean_cost);
    tile.more = exit_operations_text(*f.exits) + ", counted over " + counted(f.exits->items, f.exits->item);
    return tile;
  }
  const ItemCostFigures& c = *f.item_costs;
  tile.value = percent_text(c.share);
  tile.more = "of what all branches would take, in the model's own order, counted over " + counted(c.items, c.item);
  if (c.largest_branch) tile.more += "; " + largest_text(f);
  if (const GroupSpent* g = only_compared(c))
    tile.more +=
        "; without " + g->name + " " + percent_text(g->without->share) + ", with " + percent_text(g->with.share);
  return tile;
}

/// ", counted over 304 of the 1,678 sequences": a time limit left some of the data out. Empty: all items are counted.
std::string part_counted_text(const RunSummaryFigures& f) {
  const ItemCostFigures& c = *f.item_costs;
  const int64_t all = items_of_data(f.dataset);
  if (c.items >= all) return {};
  return ", counted over " + with_commas(c.items) + " of the " + counted(all, c.item);
}

}  // namespace

std::string spent_text(const ItemsSpent& spent) { return share_text(spent.share, spent.share_ci95); }

std::string parts_text(const PartsComputed& parts) {
  return fmt::format("{:.2f}", parts.mean) +
         (parts.mean_ci95 ? fmt::format(" [{:.2f}, {:.2f}]", (*parts.mean_ci95)[0], (*parts.mean_ci95)[1]) : "");
}

std::string fewer_text(const GroupSpent& g) {
  if (!g.fewer) return {};
  if (*g.fewer >= 0) return share_text(*g.fewer, g.fewer_ci95) + " fewer";
  auto more = g.fewer_ci95;
  if (more) *more = {-(*g.fewer_ci95)[1], -(*g.fewer_ci95)[0]};
  return share_text(-*g.fewer, more) + " more";
}

std::string item_costs_headline(const RunSummaryFigures& f) {
  if (!is_spared(f)) return {};
  const ItemCostFigures& c = *f.item_costs;
  const std::string text = short_name(f.model) + " spends ";
  if (const GroupSpent* g = told_group(c))
    return text + percent_text(std::abs(*g->fewer)) + (*g->fewer >= 0 ? " fewer" : " more") + " operations on " +
           items_of(c) + " without " + g->name + " than on those with it" + part_counted_text(f);
  return text + percent_text(c.share) + " of the operations that all branches would take" + part_counted_text(f);
}

std::string item_costs_sentence(const RunSummaryFigures& f) {
  if (!is_spared(f)) return {};
  const ItemCostFigures& c = *f.item_costs;
  const std::string beside = c.largest_branch ? " (" + largest_text(f) + ")" : "";
  const std::string all = percent_text(c.share) + " of ";
  std::string text = "spends ";
  if (const GroupSpent* g = told_group(c)) {
    text += fewer_text(*g) + " operations on the " + counted(g->without->items, c.item) + " without " + g->name +
            " than on the " + with_commas(g->with.items) + " with, and on average " + all +
            "what all branches would take" + beside;
  } else {
    text += all + "the operations that all branches would take" + beside;
    if (hardly_varies(c))
      text += ", " + std::string(varies(c) ? "nearly " : "") + "the same share of each " + c.item;
    else if (const auto ends = least_and_most(c))
      text += ": " + by_label_text(*ends);
    else
      text += fmt::format(", from {:.1f} to {:.1f} % by {}", 100 * c.least.share, 100 * c.most.share, c.item);
  }
  text += part_counted_text(f);
  return c.served ? text + "; its " + served_text(c) : text;
}

std::vector<std::pair<std::string, std::string>> item_costs_lines(const RunSummaryFigures& f) {
  if (!f.item_costs) return {};
  const ItemCostFigures& c = *f.item_costs;
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("operations of a " + c.item,
                     amount(c.operations) + " on average, " + share_text(c.share, c.share_ci95) + " of the " +
                         amount(c.operations_of_all) + " that all branches would take" + part_counted_text(f));
  if (c.largest_branch) lines.emplace_back("", largest_line(f));
  if (!varies(c))
    lines.emplace_back("", "the same share of each of the " + counted(c.items, c.item));
  else if (c.quartiles.size() == 3)
    lines.emplace_back("", fmt::format("quartiles {:.1f}, {:.1f} and {:.1f} %; least ", 100 * c.quartiles[0],
                                       100 * c.quartiles[1], 100 * c.quartiles[2]) +
                               percent_text(c.least.share) + " (" + c.least.name + "), most " +
                               percent_text(c.most.share) + " (" + c.most.name + ")");
  if (c.served) lines.emplace_back("", served_text(c));
  size_t told = 0;
  for (const GroupSpent& g : c.groups)
    if (g.without && told++ < kFewGroups)
      lines.emplace_back(
          "", "without " + g.name + " (" + counted(g.without->items, c.item) + ") " + spent_text(*g.without) +
                  ", with (" + with_commas(g.with.items) + ") " + spent_text(g.with) +
                  (g.fewer ? ": " + fewer_text(g) + " without it" : "") +
                  (std::min(g.with.items, g.without->items) < kFew ? " (too few to say anything about others)" : ""));
  if (const auto ends = least_and_most(c)) lines.emplace_back("", by_label_text(*ends));
  if (c.parts) {
    lines.emplace_back("parts computed", parts_text(*c.parts) + " on average of the " + with_commas(c.parts->of) +
                                             " that routers may leave out");
    told = 0;
    for (const GroupSpent& g : c.groups)
      if (g.with.parts && g.without && g.without->parts && told++ < kFewGroups)
        lines.emplace_back(
            "", "without " + g.name + " " + parts_text(*g.without->parts) + ", with " + parts_text(*g.with.parts));
  }
  return lines;
}

std::vector<FigureTile> item_costs_tiles(const RunSummaryFigures& f) {
  if (!f.item_costs) return {};
  const ItemCostFigures& c = *f.item_costs;
  if (!c.parts) return {spent_tile(f)};
  FigureTile parts{
      "Parts computed", fmt::format("{:.2f}", c.parts->mean),
      "of the " + with_commas(c.parts->of) + " that routers may leave out, the mean of " + counted(c.items, c.item)};
  if (const GroupSpent* g = only_compared(c); g && g->without->parts && g->with.parts)
    parts.more +=
        fmt::format("; without {} {:.2f}, with {:.2f}", g->name, g->without->parts->mean, g->with.parts->mean);
  return {spent_tile(f), parts};
}

std::vector<std::vector<std::string>> item_costs_groups(const ItemCostFigures& c) {
  if (c.groups.empty()) return {};
  const bool compared =
      std::any_of(c.groups.begin(), c.groups.end(), [](const GroupSpent& g) { return g.without.has_value(); });
  const std::string with = compared ? " with it" : "";
  std::vector<std::vector<std::string>> rows = {{"class", items_of(c) + with, "operations" + with}};
  if (compared)
    rows[0].insert(rows[0].end(), {items_of(c) + " without it", "operations without it", "difference without it"});
  if (c.parts) rows[0].push_back(compared ? "parts with it" : "parts");
  if (c.parts && compared) rows[0].push_back("parts without it");
  for (const GroupSpent& g : c.groups) {
    std::vector<std::string>& row = rows.emplace_back();
    row = {g.name, with_commas(g.with.items), spent_text(g.with)};
    if (compared)
      row.insert(row.end(), {g.without ? with_commas(g.without->items) : "-", g.without ? spent_text(*g.without) : "-",
                             g.fewer ? fewer_text(g) : "-"});
    if (c.parts) row.push_back(g.with.parts ? parts_text(*g.with.parts) : "-");
    if (c.parts && compared) row.push_back(g.without && g.without->parts ? parts_text(*g.without->parts) : "-");
  }
  return rows;
}

std::string item_costs_source_text(const RunSummaryFigures& f) {
  const ItemCostFigures& c = *f.item_costs;
  const bool two_orders = f.exits && f.exits->plan == CurvePlan::optimized;
  return "counted in the model's own order" +
         std::string(two_orders ? ", where costs of exits are those of the optimised plan," : "") +
         " by what the cells of each " + c.item + " went through, padding left out; no times" +
         (c.share_ci95 ? "; intervals of 95 % by bootstrap over the " + items_of(c) : "");
}

}  // namespace stormcell
