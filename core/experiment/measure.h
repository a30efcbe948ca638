// Timing that can be trusted: plans alternate, ratios are of medians, intervals come from a bootstrap over rounds.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include "core/base/progress.h"
#include "core/summary/results.h"

namespace stormcell {

/// Below, an interval over rounds says little.
inline constexpr int kLeastRounds = 7;

double median(std::vector<double> values);
double quantile(std::vector<double> values, double q);
/// Median, 95th percentile (nearest rank), smallest.
Latency latency_of(const std::vector<double>& milliseconds);

/// How much longer than its batch's median the slowest twentieth of the executions took: 1 on a quiet machine, however the batches differ.
/// `milliseconds`: of `batches` batches, round after round; 1 where no batch was repeated.
double repeat_spread(const std::vector<double>& milliseconds, size_t batches);

struct Ratio {
  double value = 1;
  std::array<double, 2> ci95{1, 1};
};
/// median(slow) / median(fast) with a 95 % percentile-bootstrap interval over paired rounds (2,000 draws, fixed seed).
Ratio ratio_of_medians(const std::vector<double>& slow, const std::vector<double>& fast);

/// Which of `count` batches to measure so that `plans` plans do at least `rounds` rounds in `seconds`: evenly spread, all where they fit.
/// `round_ms` is the time of one plan over all batches.
std::vector<int64_t> measured_batches(int64_t count, double round_ms, size_t plans, int rounds, double seconds);

/// Runs `plans` functions in rounds, each round in rotated order, until `seconds` are over and at least `least` rounds are done.
/// A function runs its plan over the same batches and returns the batches' milliseconds. The first round warms up and is not kept.
struct Rounds {
  std::vector<std::vector<double>> total;    ///< [plan][round] sum of a round
  std::vector<std::vector<double>> batches;  ///< [plan] every batch of every round
};
Rounds alternate(const std::vector<std::function<std::vector<double>()>>& plans, double seconds, int least, const Progress& progress);

}  // namespace stormcell
