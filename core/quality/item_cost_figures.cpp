#include "core/quality/item_cost_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "core/quality/interval.h"

namespace stormcell {
namespace {

using Some = std::vector<const ItemCost*>;

/// Operations of the drawn ones, as a share of what `whole` says that they could have been.
double share_of(double ItemCost::*whole, const Some& items, std::span<const size_t> drawn) {
  double operations = 0, of = 0;
  for (const size_t at : drawn) operations += items[at]->operations, of += items[at]->*whole;
  return of > 0 ? operations / of : 1;
}
std::vector<size_t> all_places(const Some& items) {
  std::vector<size_t> all(items.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

std::optional<LargestBranch> largest_of(const Some& items) {
  if (items.front()->of_largest <= 0) return std::nullopt;
  LargestBranch largest;
  for (const ItemCost* item : items) largest.operations += item->of_largest / static_cast<double>(items.size());
  const auto share = [&](std::span<const size_t> drawn) { return share_of(&ItemCost::of_largest, items, drawn); };
  largest.share = share(all_places(items));
  largest.share_ci95 = bootstrap_interval(items.size(), share);
  return largest;
}

std::optional<PartsComputed> parts_of(const Some& items) {
  if (items.front()->of_parts == 0) return std::nullopt;
  std::vector<double> parts;
  for (const ItemCost* item : items) parts.push_back(item->parts);
  return PartsComputed{std::accumulate(parts.begin(), parts.end(), 0.0) / static_cast<double>(parts.size()),
                       bootstrap_interval(parts), items.front()->of_parts};
}

ItemsSpent spent_by(const Some& items) {
  const auto share = [&](std::span<const size_t> drawn) { return share_of(&ItemCost::of_all, items, drawn); };
  return {std::ssize(items), share(all_places(items)), bootstrap_interval(items.size(), share), parts_of(items)};
}

/// Interpolates between the two neighbouring values: with few items, the nearest rank (as in quantile() for times)
/// jumps.
double interpolated_quantile(const std::vector<double>& sorted, double at) {
  const double place = at * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place), above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

ItemSpent spent_by(const ItemCost& item) { return {item.item, {}, item.operations, item.share()}; }

/// The items with the class beside those without it.
void compare(const Some& with, const Some& without, GroupSpent& group) {
  group.without = spent_by(without);
  if (group.with.share <= 0) return;
  const auto fewer = [](double with_it, double without_it) { return with_it > 0 ? 1 - without_it / with_it : 0; };
  group.fewer = fewer(group.with.share, group.without->share);
  group.fewer_ci95 =
      bootstrap_interval({with.size(), without.size()}, [&](std::span<const size_t> a, std::span<const size_t> b) {
        return fewer(share_of(&ItemCost::of_all, with, a), share_of(&ItemCost::of_all, without, b));
      });
}

/// A class that all of several have, or the only one of labels, sets nothing apart.
std::vector<GroupSpent> groups_of(const std::vector<ItemCost>& items, const ClassesOfItems& classes) {
  std::map<std::string, Some, std::function<bool(const std::string&, const std::string&)>> of_class(classes.before);
  for (const ItemCost& item : items)
    for (const std::string& name : item.classes) of_class[name].push_back(&item);
  std::vector<GroupSpent> groups;
  for (const auto& [name, with] : of_class) {
    if (with.size() == items.size()) continue;
    GroupSpent& group = groups.emplace_back();
    group.name = name;
    group.with = spent_by(with);
    if (!classes.may_be_several) continue;
    const std::set<const ItemCost*> have_it(with.begin(), with.end());
    Some without;
    for (const ItemCost& item : items)
      // An item without any class may have this one too: it counts on neither side.
      if (!item.classes.empty() && !have_it.contains(&item)) without.push_back(&item);
    if (!without.empty()) compare(with, without, group);
  }
  return groups;
}

}  // namespace

ItemCostFigures item_cost_figures(const std::vector<ItemCost>& items, const ClassesOfItems& classes) {
  ItemCostFigures f;
  Some all;
  std::vector<double> shares;
  int64_t choices = 0, dropped = 0;
  for (const ItemCost& item : items) {
    all.push_back(&item);
    shares.push_back(item.share());
    f.operations += item.operations, f.operations_of_all += item.of_all;
    choices += item.choices, dropped += item.dropped;
  }
  const ItemsSpent whole = spent_by(all);
  f.items = whole.items, f.share = whole.share, f.share_ci95 = whole.share_ci95, f.parts = whole.parts;
  f.largest_branch = largest_of(all);
  f.operations /= static_cast<double>(items.size()), f.operations_of_all /= static_cast<double>(items.size());
  f.alike = std::all_of(items.begin(), items.end(),
                        [&](const ItemCost& item) { return item.of_all == items.front().of_all; });
  const auto less = [](const ItemCost& a, const ItemCost& b) { return a.share() < b.share(); };
  f.least = spent_by(*std::min_element(items.begin(), items.end(), less));
  f.most = spent_by(*std::max_element(items.begin(), items.end(), less));
  std::sort(shares.begin(), shares.end());
  f.quartiles = {interpolated_quantile(shares, 0.25), interpolated_quantile(shares, 0.5),
                 interpolated_quantile(shares, 0.75)};
  if (dropped > 0) f.served = static_cast<double>(choices - dropped) / choices;
  f.groups = groups_of(items, classes);
  return f;
}

}  // namespace stormcell
