#include "core/measuring/paired_speedup.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/lcg.h"
#include "core/base/student_t.h"
#include "core/summary/latency.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {
namespace {

constexpr int kDraws = 2000;
constexpr size_t kOften = 8;         // from so many visits on, a batch's own median withstands a few disturbed ones
constexpr double kUnlike = 1.645;    // normal deviate: one in twenty cases of batches that gain alike exceeds it
constexpr double kCouldTell = 3.29;  // visits that agree in everything must reach it, or noise hides a difference

using Drawn = std::vector<int32_t>;  // by round: how often it was drawn

/// Median; the mean of the two in the middle of an even number: with few values, the lower one would favour the first
/// plan.
double middle_of(std::vector<double>& values) {
  const size_t half = values.size() / 2;
  const auto at = values.begin() + half;
  std::nth_element(values.begin(), at, values.end());
  return values.size() % 2 ? *at : (*std::max_element(values.begin(), at) + *at) / 2;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::map<int64_t, std::vector<const PairedVisit*>> by_batch(const std::vector<PairedVisit>& visits) {
  std::map<int64_t, std::vector<const PairedVisit*>> batches;
  for (const PairedVisit& v : visits) batches[v.batch].push_back(&v);
  return batches;
}

/// Batches alike: the weighted median of all log ratios.
class AllPairs {
 public:
  explicit AllPairs(const std::vector<PairedVisit>& visits) {
    for (const PairedVisit& v : visits)
      for (const double first : v.first)
        pairs_.push_back({std::log(first / v.second), v.weight, static_cast<size_t>(v.round)});
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) { return a.log_ratio < b.log_ratio; });
  }
  double operator()(const Drawn& drawn) const {
    double total = 0, below = 0;
    for (const Pair& p : pairs_) total += p.weight * drawn[p.round];
    for (const Pair& p : pairs_)
      if ((below += p.weight * drawn[p.round]) >= 0.5 * total) return p.log_ratio;
    return 0;
  }

 private:
  struct Pair {
    double log_ratio, weight;
    size_t round;
  };
  std::vector<Pair> pairs_;
};

/// Batches that gain unlike, each visited often: sum(w) / sum(w / r). If a neighbour computes half of the time, it
/// decides the median of a batch's times; the shortest one is the batch's own.
class BatchByBatch {
 public:
  explicit BatchByBatch(const std::vector<PairedVisit>& visits) {
    for (const auto& [batch, list] : by_batch(visits)) {
      std::vector<Visit>& into = batches_.emplace_back();
      for (const PairedVisit* v : list) {
        Visit& visit = into.emplace_back(
            Visit{{}, *std::min_element(v->first.begin(), v->first.end()), static_cast<size_t>(v->round)});
        for (const double ms : v->first) visit.log_ratios.push_back(std::log(ms / v->second));
      }
    }
  }
  double operator()(const Drawn& drawn) const {
    double first = 0, second = 0;
    std::vector<double> log_ratios;
    for (const std::vector<Visit>& batch : batches_) {
      double shortest = 0;
      log_ratios.clear();
      for (const Visit& v : batch) {
        for (int32_t i = 0; i < drawn[v.round]; ++i)
          log_ratios.insert(log_ratios.end(), v.log_ratios.begin(), v.log_ratios.end());
        if (drawn[v.round] > 0) shortest = shortest > 0 ? std::min(shortest, v.shortest) : v.shortest;
      }
      if (log_ratios.empty()) continue;
      first += shortest;
      second += shortest * std::exp(-middle_of(log_ratios));
    }
    return std::log(first / second);
  }

 private:
  struct Visit {
    std::vector<double> log_ratios;
    double shortest;
    size_t round;
  };
  std::vector<std::vector<Visit>> batches_;
};

/// Batches unlike or not known, few visits of each: the ratio of the sums of their mean times.
class Totals {
 public:
  explicit Totals(const std::vector<PairedVisit>& visits) {
    for (const auto& [batch, list] : by_batch(visits)) {
      std::vector<Times>& times = batches_.emplace_back();
      for (const PairedVisit* v : list) times.push_back({mean_of(v->first), v->second, static_cast<size_t>(v->round)});
    }
  }
  double operator()(const Drawn& drawn) const {
    double first = 0, second = 0;
    for (const std::vector<Times>& batch : batches_) {
      double visits = 0, of_first = 0, of_second = 0;
      for (const Times& t : batch) {
        const double times = drawn[t.round];
        visits += times, of_first += times * t.first, of_second += times * t.second;
      }
      if (visits > 0) first += of_first / visits, second += of_second / visits;
    }
    return std::log(first / second);
  }

 private:
  struct Times {
    double first, second;
    size_t round;
  };
  std::vector<std::vector<Times>> batches_;
};

template <class Estimate>
Ratio with_interval(const Estimate& log_ratio, size_t rounds, RatioBasis basis) {
  Ratio r;
  r.basis = basis;
  r.value = std::exp(log_ratio(Drawn(rounds, 1)));
  r.ci95 = {r.value, r.value};
  if (rounds < 2) return r;
  std::vector<double> draws;
  Drawn drawn(rounds);
  Lcg random;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::fill(drawn.begin(), drawn.end(), 0);
    for (size_t i = 0; i < rounds; ++i) ++drawn[random.next() % rounds];
    draws.push_back(log_ratio(drawn));
  }
  const double tail = tail_of_interval(static_cast<int64_t>(rounds));
  r.ci95 = {std::exp(quantile(draws, tail)), std::exp(quantile(draws, 1 - tail))};
  return r;
}

/// Ranks from 1 on; equal values share the middle of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t j = i; j < end; ++j) ranks[order[j]] = (static_cast<double>(i + end) + 1) / 2;
    i = end;
  }
  return ranks;
}

/// Kruskal and Wallis's H of groups, and the most that it can be, as normal deviates: chi square scaled to the mean and
/// variance of H where the groups are alike (Kruskal 1952), Wilson and Hilferty's cube root.
struct GroupTest {
  double deviate = 0, most = 0;
};
GroupTest kruskal_wallis(const std::vector<double>& values, const std::vector<size_t>& sizes) {
  const std::vector<double> ranks = ranks_of(values);
  const auto n = static_cast<double>(values.size()), k = static_cast<double>(sizes.size());
  double squares = 0, cubes = 0, inverse = 0;
  size_t at = 0;
  for (const size_t size : sizes) {
    const double of_group = size;
    double off = 0;
    for (const size_t end = at + size; at < end; ++at) off += ranks[at] - (n + 1) / 2;
    squares += off * off / of_group;
    cubes += std::pow(of_group, 3);
    inverse += 1 / of_group;
  }
  const double mean = k - 1;
  const double variance =
      2 * mean - 2 * (3 * k * k - 6 * k + n * (2 * k * k - 6 * k + 1)) / (5 * n * (n + 1)) - 1.2 * inverse;
  const double width = 2 / (9 * (2 * mean * mean / variance));
  const auto deviate = [&](double h) { return (std::cbrt(h / mean) - (1 - width)) / std::sqrt(width); };
  return {deviate(12 * squares / (n * (n + 1))), deviate((n * n * n - cubes) / (n * (n + 1)))};
}

}  // namespace

double tail_of_interval(int64_t rounds) {
  if (rounds < 2) return 0;
  const double v = rounds - 1;
  const double t = student_t_95(v);
  return 0.5 * std::erfc(t * std::sqrt(static_cast<double>(rounds) / v) / std::sqrt(2.0));
}

BatchGains batch_gains(const std::vector<PairedVisit>& visits) {
  const auto batches = by_batch(visits);
  if (batches.size() < 2) return BatchGains::alike;
  // The pairs of a visit share an execution: a visit is one observation.
  std::vector<double> gains;
  std::vector<size_t> sizes;
  for (const auto& [batch, list] : batches) {
    if (list.size() < 2) continue;
    for (const PairedVisit* v : list) gains.push_back(mean_of(v->first) / v->second);
    sizes.push_back(list.size());
  }
  if (sizes.size() < 2) return BatchGains::unknown;
  const GroupTest test = kruskal_wallis(gains, sizes);
  if (test.most < kCouldTell) return BatchGains::unknown;
  return test.deviate > kUnlike ? BatchGains::unlike : BatchGains::alike;
}

Ratio paired_ratio(const std::vector<PairedVisit>& visits) {
  if (visits.empty()) return {};
  size_t rounds = 0, fewest = SIZE_MAX;
  for (const PairedVisit& v : visits) rounds = std::max(rounds, static_cast<size_t>(v.round) + 1);
  const auto batches = by_batch(visits);
  for (const auto& [batch, list] : batches) fewest = std::min(fewest, list.size());
  Ratio ratio = batch_gains(visits) == BatchGains::alike
                    ? with_interval(AllPairs(visits), rounds, RatioBasis::all_pairs)
                : fewest >= kOften ? with_interval(BatchByBatch(visits), rounds, RatioBasis::batches)
                                   : with_interval(Totals(visits), rounds, RatioBasis::totals);
  ratio.pairs = std::ssize(visits), ratio.batches = std::ssize(batches);
  return ratio;
}

std::optional<SpeedupWithheld> too_few(const Ratio& ratio, int64_t held_out) {
  SpeedupConditions few;
  few.pairs = ratio.pairs, few.batches = ratio.batches, few.held_out = held_out;
  few.gains_alike = ratio.basis == RatioBasis::all_pairs;
  return why_withheld(few);
}

}  // namespace stormcell
