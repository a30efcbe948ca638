#include "core/chance/even_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/pair_chance.h"
#include "core/chance/count_tail.h"
#include "core/profile/pair_figures.h"

namespace stormcell {
namespace {

/// Pairs nearer to their expectation than so many deviations are not looked at: they could never be called.
constexpr double kFewestDeviations = 2.5;
/// No pair of a smaller expectation can be too rare.
constexpr double kFewestExpected = 1;

double deviations_from(double expected, double of) {
  return kFewestDeviations * std::sqrt(expected * (1 - expected / of));
}

/// P(X >= count) of a binomial with this expectation; 1 if it is not worth a look.
double above_chance(int64_t count, double expected, double of) {
  if (expected <= 0 || expected >= of || static_cast<double>(count) < expected + deviations_from(expected, of))
    return 1;
  return binomial_from(count, of, expected / of);
}
/// P(X <= count) likewise.
double below_chance(int64_t count, double expected, double of) {
  if (expected <= 0 || expected >= of || static_cast<double>(count) > expected - deviations_from(expected, of))
    return 1;
  return binomial_to(count, of, expected / of);
}

int64_t count_in(const PairTable& table, int32_t from, int32_t to) {
  const auto at = std::lower_bound(
      table.entries.begin(), table.entries.end(), std::pair(from, to),
      [](const PairCount& pair, const auto& wanted) { return std::pair(pair.from, pair.to) < wanted; });
  return at != table.entries.end() && at->from == from && at->to == to ? at->count : 0;
}

int64_t used(const std::vector<int64_t>& counts) {
  return std::ssize(counts) - std::count(counts.begin(), counts.end(), 0);
}

/// Branches that have any, the largest counts first.
std::vector<int32_t> by_count(const std::vector<int64_t>& counts) {
  std::vector<int32_t> order;
  for (int32_t b = 0; b < std::ssize(counts); ++b)
    if (counts[b] > 0) order.push_back(b);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return counts[a] > counts[b]; });
  return order;
}

/// Leaves those that are called, the smallest p-value first.
void call(std::vector<PairBeyondChance>& pairs, double many, int64_t verdicts) {
  std::erase_if(pairs, [&](const PairBeyondChance& p) {
    return p.p_value * many * static_cast<double>(verdicts) > kFalseCalls;
  });
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.p_value, a.from, a.to) < std::tuple(b.p_value, b.from, b.to);
  });
}
void call(PairsBesideChance& out, int64_t verdicts) {
  const auto many = static_cast<double>(out.tested);
  for (const PairBeyondChance& pair : out.beyond) out.p_value = std::min(out.p_value, pair.p_value * many);
  call(out.beyond, many, verdicts), call(out.rarer, many, verdicts);
}

}  // namespace

bool PairsBesideChance::is_beyond(int32_t from, int32_t to) const {
  return std::any_of(beyond.begin(), beyond.end(), [&](const auto& p) { return p.from == from && p.to == to; });
}

TransitionJudge::TransitionJudge(const PairTable& transitions, int32_t next_k, int64_t verdicts)
    : from_(transitions.rows), to_(transitions.columns), next_k_(std::max(next_k, 1)) {
  for (const PairCount& pair : transitions.entries) from_[pair.from] += pair.count, to_[pair.to] += pair.count;
  pairs_ = static_cast<double>(transitions.total());
  calls_ = static_cast<double>(std::max<int64_t>(used(from_) * used(to_), 1)) * static_cast<double>(verdicts);
}

PairSide TransitionJudge::side(const PairCount& pair) const {
  const auto all = static_cast<double>(from_[pair.from]);
  const double expected = following_by_chance(all, static_cast<double>(to_[pair.to]), pairs_), of = all / next_k_;
  if (above_chance(pair.count, expected, of) * calls_ <= kFalseCalls) return PairSide::more_often;
  if (below_chance(pair.count, expected, of) * calls_ <= kFalseCalls) return PairSide::more_rarely;
  return PairSide::within;
}

PairsBesideChance transitions_beside_chance(const PairTable& transitions, int32_t next_k, int64_t verdicts) {
  std::vector<int64_t> from(transitions.rows), to(transitions.columns);
  for (const PairCount& pair : transitions.entries) from[pair.from] += pair.count, to[pair.to] += pair.count;
  PairsBesideChance out;
  out.tested = used(from) * used(to);
  const double pairs = static_cast<double>(transitions.total());
  for (const PairCount& pair : transitions.entries) {
    const auto all = static_cast<double>(from[pair.from]);
    const double expected = following_by_chance(all, static_cast<double>(to[pair.to]), pairs);
    const double p = above_chance(pair.count, expected, all / std::max(next_k, 1));
    if (p < 1) out.beyond.push_back({pair.from, pair.to, pair.count, p});
  }
  // Pairs without cells too. As many pairs as there are can have an expectation of 1, so this ends early.
  const std::vector<int32_t> from_order = by_count(from), to_order = by_count(to);
  for (const int32_t i : from_order) {
    const auto all = static_cast<double>(from[i]);
    for (const int32_t j : to_order) {
      const double expected = following_by_chance(all, static_cast<double>(to[j]), pairs);
      if (expected < kFewestExpected) break;
      const int64_t count = count_in(transitions, i, j);
      const double p = below_chance(count, expected, all / std::max(next_k, 1));
      if (p < 1) out.rarer.push_back({i, j, count, p});
    }
  }
  call(out, verdicts);
  return out;
}

PairsBesideChance coactivation_beside_chance(const PairTable& together, int32_t k, int64_t verdicts) {
  std::vector<int64_t> pairs_of(together.rows);
  for (const PairCount& pair : together.entries)
    for (const int32_t branch : {pair.from, pair.to}) pairs_of[branch] += pair.count;
  const int64_t branches = used(pairs_of);
  PairsBesideChance out;
  out.tested = branches * (branches - 1) / 2;
  if (k < 2) return out;
  const double pairs = static_cast<double>(together.total()), cells = 2 * pairs / (static_cast<double>(k) * (k - 1));
  for (const PairCount& pair : together.entries) {
    const double expected =
        together_by_chance(static_cast<double>(pairs_of[pair.from]), static_cast<double>(pairs_of[pair.to]), pairs);
    const double p = above_chance(pair.count, expected, cells);
    if (p < 1) out.beyond.push_back({pair.from, pair.to, pair.count, p});
  }
  const std::vector<int32_t> order = by_count(pairs_of);
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i + 1; j < order.size(); ++j) {
      const auto [a, b] = std::minmax(order[i], order[j]);
      const double expected =
          together_by_chance(static_cast<double>(pairs_of[a]), static_cast<double>(pairs_of[b]), pairs);
      if (expected < kFewestExpected) break;
      const int64_t count = count_in(together, a, b);
      const double p = below_chance(count, expected, cells);
      if (p < 1) out.rarer.push_back({a, b, count, p});
    }
  call(out, verdicts);
  return out;
}

std::optional<ChanceFigure> likeliest_beside_chance(const PairTable& transitions, std::span<const int64_t> came,
                                                    std::optional<double> likeliest, int32_t next_k) {
  if (!likeliest || transitions.columns < 1) return {};
  const double n = transitions.columns, k = std::clamp(next_k, 1, transitions.columns), chosen = k / n;
  std::vector<int64_t> pairs_from(came.size());
  for (const PairCount& pair : transitions.entries) pairs_from[pair.from] += pair.count;
  double all = 0, mean = 0, variance = 0, third = 0;
  std::map<int64_t, LargestCount> known;
  for (size_t b = 0; b < came.size(); ++b) {
    if (came[b] < kFewestPairCells || pairs_from[b] == 0) continue;
    all += static_cast<double>(came[b]);
    // Independent counts whose sum is then fixed: their common part leaves the variance of the largest.
    const double expected = static_cast<double>(pairs_from[b]) / n;
    const double spread = n > 1 ? expected * (1 - chosen) * n / (n - 1) : 0;
    auto found = known.find(pairs_from[b]);
    if (found == known.end()) found = known.emplace(pairs_from[b], largest_count(expected, spread, n)).first;
    const LargestCount& largest = found->second;
    mean += largest.mean, variance += std::max(largest.variance - spread / n, 0.), third += largest.third;
  }
  if (all <= 0) return {};
  const double deviation = std::sqrt(variance);
  ChanceFigure figure;
  if (deviation < 1e-6) {
    figure.range = {mean / all, mean / all, mean / all};
    return figure;
  }
  const double skewness = third / (variance * deviation);
  const auto at = [&](double z) { return (mean + deviation * (z + skewness / 6 * (z * z - 1))) / all; };
  constexpr double z95 = 1.959964;
  figure.range = {at(0), at(-z95), at(z95)};
  const double z = (*likeliest * all - mean) / deviation;
  // The inverse of at(); beyond the point where it turns, the normal number itself.
  const double inner = 1 + 4 * skewness / 6 * (z + skewness / 6);
  const double straight = skewness < 1e-6 ? z : inner > 0 ? (std::sqrt(inner) - 1) / (skewness / 3) : -4;
  figure.p_value = normal_beyond(straight);
  if (figure.p_value <= kFalseCalls) figure.beside = straight > 0 ? BesideChance::more_skewed : BesideChance::more_even;
  return figure;
}

std::optional<ChanceRange> largest_lift_by_chance(int64_t pairs, int32_t branches, int32_t k) {
  if (k < 2 || branches < 3 || k >= branches || pairs < 1) return {};
  const double n = branches, of = k, two = n * (n - 1) / 2, expected = static_cast<double>(pairs) / two;
  const double cells = 2 * static_cast<double>(pairs) / (of * (of - 1));
  // The variance of a pair beside the loads of its branches: sets of k form a Johnson scheme, whose second space it is.
  const double variance = cells * of * (of - 1) * (n - of) * (n - of - 1) / (n * (n - 1) * (n - 2)) / (n - 1);
  const LargestCount largest = largest_count(expected, variance, two);
  return ChanceRange{largest.range.middle / expected, largest.range.low / expected, largest.range.high / expected};
}

}  // namespace stormcell
