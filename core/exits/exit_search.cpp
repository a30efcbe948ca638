#include "core/exits/exit_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/cell/router_threshold.h"

namespace stormcell {
namespace {

constexpr size_t kMostCutsOfTwo = 1024, kMostCuts = 96;
constexpr int kMostRounds = 32;

struct Sums {
  double part = 0, cost = 0;
};

/// A cut of one test: so many of those that come leave.
struct Cut {
  double threshold = kNoneLeaves;
  Sums sums;  ///< of all items, the others' thresholds held
};

struct Thresholds {
  std::vector<double> of_test;
  Sums sums;  ///< of all items
};

class Search {
 public:
  Search(const ExitCase& of, const ExitAim& aim, const CancellationToken& cancel)
      : case_(of), cancel_(cancel), tests_(of.confidence.size()), items_(of.part.front().size()), aim_(aim) {
    aim_.value *= static_cast<double>(items_);
    for (const std::vector<float>& c : of.confidence) {
      std::vector<size_t>& order = order_.emplace_back(items_);
      std::iota(order.begin(), order.end(), size_t{0});
      const auto rank = [&](size_t i) { return std::isnan(c[i]) ? -1.0F : c[i]; };
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) > rank(b); });
    }
  }

  FoundExits run(std::vector<double> start) {
    for (double& threshold : start) threshold = as_exit_threshold(threshold);
    const bool tries_all = tests_ == 1 || (tests_ == 2 && items_ < kMostCutsOfTwo);
    Thresholds best = search(with_sums(start));
    if (!tries_all)
      for (Thresholds& from : std::array{with_sums(std::vector<double>(tests_, kNoneLeaves)), best_of_one_for_all()})
        if (Thresholds reached = search(std::move(from)); better(reached.sums, best.sums)) best = std::move(reached);
    best = keep_where_equal(start, std::move(best));
    const double n = items_;
    return {std::move(best.of_test), best.sums.part / n, best.sums.cost / n, meets(best.sums), tries_all};
  }

 private:
  bool meets(const Sums& s) const {
    // A share of items that is met exactly must not fail by the last bit of the division.
    const double slack = 1e-9 * std::max(1.0, std::fabs(aim_.value));
    return aim_.of == ExitAim::Of::part ? s.part >= aim_.value - slack : s.cost <= aim_.value + slack;
  }
  /// Ranks thresholds that meet the aim first; then by the quantity to optimise, then by the other one.
  bool better(const Sums& a, const Sums& b) const {
    const bool a_meets = meets(a), b_meets = meets(b);
    if (a_meets != b_meets) return a_meets;
    const double slack = 1e-12 * static_cast<double>(items_);
    const bool cost_first = (aim_.of == ExitAim::Of::part) == a_meets;
    const auto cost = [&] {
      return std::fabs(a.cost - b.cost) > slack ? std::optional(a.cost < b.cost) : std::nullopt;
    };
    const auto part = [&] {
      return std::fabs(a.part - b.part) > slack ? std::optional(a.part > b.part) : std::nullopt;
    };
    return cost_first ? cost().value_or(part().value_or(false)) : part().value_or(cost().value_or(false));
  }

  Thresholds best_of_one_for_all() const {
    std::optional<Thresholds> best;
    for (int percent = 0; percent <= 100; ++percent) {
      Thresholds one = with_sums(std::vector<double>(tests_, percent == 100 ? kNoneLeaves : percent / 100.0));
      if (!best || better(one.sums, best->sums)) best = std::move(one);
    }
    return *best;
  }

  Thresholds with_sums(std::vector<double> of_test) const {
    const Sums sums = sums_of(of_test);
    return {std::move(of_test), sums};
  }
  Sums sums_of(const std::vector<double>& thresholds) const {
    const std::vector<int32_t> taken = exits_taken(case_.confidence, thresholds);
    Sums s;
    for (size_t i = 0; i < items_; ++i) add(s, i, static_cast<size_t>(taken[i]), 1);
    return s;
  }
  void add(Sums& s, size_t item, size_t exit, double sign) const {
    s.part += sign * case_.part[exit][item], s.cost += sign * case_.cost[exit][item];
  }

  /// Searches from these thresholds on.
  Thresholds search(Thresholds from) const {
    if (tests_ > 1) return search_pairs(std::move(from));
    const Cut cut = best_cut(from.of_test, 0);
    return {{cut.threshold}, cut.sums};
  }

  /// Coordinate search: changes two thresholds at a time, the others held, until none of the changes that it tries
  /// gains.
  Thresholds search_pairs(Thresholds from) const {
    for (int round = 0; round < kMostRounds; ++round) {
      const Sums before = from.sums;
      for (size_t first = 0; first + 1 < tests_; ++first)
        for (size_t second = first + 1; second < tests_; ++second) from = search_pair(std::move(from), first, second);
      if (!better(from.sums, before) || tests_ == 2) break;
    }
    return from;
  }

  Thresholds search_pair(Thresholds best, size_t first, size_t second) const {
    std::vector<double> tried = best.of_test;
    for (const double threshold : spread(cuts(tried, first), tests_ == 2 ? kMostCutsOfTwo : kMostCuts)) {
      cancel_.check();
      tried[first] = threshold;
      const Cut cut = best_cut(tried, second);
      if (!better(cut.sums, best.sums)) continue;
      best.of_test[first] = threshold, best.of_test[second] = cut.threshold;
      best.sums = cut.sums;
    }
    return best;
  }

  /// A threshold that changes nothing here, for example because no item of the case comes to it, stays: other items may
  /// come there.
  Thresholds keep_where_equal(const std::vector<double>& start, Thresholds found) const {
    for (size_t test = tests_; test-- > 0;) {
      std::vector<double> kept = found.of_test;
      kept[test] = start[test];
      if (Thresholds same = with_sums(std::move(kept)); !better(found.sums, same.sums)) found = std::move(same);
    }
    return found;
  }

  /// Evenly chosen, the first and the last among them.
  static std::vector<double> spread(const std::vector<Cut>& cuts, size_t most) {
    std::vector<double> some;
    const size_t count = std::min(cuts.size(), most);
    for (size_t i = 0; i < count; ++i)
      some.push_back(cuts[count > 1 ? i * (cuts.size() - 1) / (count - 1) : 0].threshold);
    return some;
  }

  /// The others' thresholds held.
  Cut best_cut(const std::vector<double>& thresholds, size_t test) const {
    const std::vector<Cut> all = cuts(thresholds, test);
    return *std::min_element(all.begin(), all.end(),
                             [&](const Cut& a, const Cut& b) { return better(a.sums, b.sums); });
  }

  /// Every way in which one test can divide the items that come to it, from none that leaves to all.
  std::vector<Cut> cuts(const std::vector<double>& thresholds, size_t test) const {
    std::vector<double> none = thresholds;
    none[test] = kNoneLeaves;
    const std::vector<int32_t> otherwise = exits_taken(case_.confidence, none);
    std::vector<Cut> list{{kNoneLeaves, {}}};
    for (size_t i = 0; i < items_; ++i) add(list.front().sums, i, static_cast<size_t>(otherwise[i]), 1);
    Sums sums = list.front().sums;
    const std::vector<float>& c = case_.confidence[test];
    std::optional<size_t> last;  // that left
    for (const size_t i : order_[test]) {
      if (static_cast<size_t>(otherwise[i]) < test || std::isnan(c[i])) continue;
      if (last && c[i] < c[*last]) list.push_back({threshold_between(c[i], c[*last]), sums});
      add(sums, i, static_cast<size_t>(otherwise[i]), -1);
      add(sums, i, test, 1);
      last = i;
    }
    if (last) list.push_back({kAllLeave, sums});
    return list;
  }

  const ExitCase& case_;
  const CancellationToken& cancel_;
  size_t tests_, items_;
  ExitAim aim_;                             // of sums
  std::vector<std::vector<size_t>> order_;  // by test: items, the most confident first
};

}  // namespace

double threshold_between(float low, float high) {
  const double middle = (static_cast<double>(low) + static_cast<double>(high)) / 2;
  double scale = 100;
  for (int digits = 2; digits <= 9; ++digits, scale *= 10) {
    const double rounded = std::round(middle * scale) / scale;
    if (const auto as_compared = static_cast<float>(rounded); as_compared > low && as_compared <= high) return rounded;
  }
  return static_cast<double>(high);
}

std::vector<int32_t> exits_taken(const std::vector<std::vector<float>>& confidence,
                                 const std::vector<double>& thresholds) {
  const size_t tests = confidence.size(), items = tests > 0 ? confidence.front().size() : 0;
  std::vector<int32_t> taken(items, static_cast<int32_t>(tests));
  for (size_t test = tests; test-- > 0;) {
    const float threshold = thresholds[test];
    for (size_t i = 0; i < items; ++i)
      if (confidence[test][i] >= threshold) taken[i] = static_cast<int32_t>(test);
  }
  return taken;
}

FoundExits find_exits(const ExitCase& of, const ExitAim& aim, const std::vector<double>& start,
                      const CancellationToken& cancel) {
  return Search(of, aim, cancel).run(start);
}

}  // namespace stormcell
