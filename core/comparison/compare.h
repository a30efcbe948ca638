// Every figure of two runs, with its difference.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

/// A dotted path of a summary's JSON: "optimized.latency_ms.median", "passes.dead-path.speedup_alone",
/// "routing.ROUTER.imbalance".
struct ComparedFigure {
  std::string figure;
  std::optional<double> a, b;        ///< empty: that run lacks the figure; both: it is null in B and A has no value
  std::optional<double> difference;  ///< b - a, if both exist and are of the same thing
  std::optional<std::array<double, 2>> ci95;  ///< of the difference, if both figures have an interval
  /// A figure with an interval: the interval does not contain 0. A count: the two differ, and not by chance alone. Empty:
  /// a measured figure without an interval.
  std::optional<bool> significant;
  /// For a time with an interval in both runs: whether both intervals include the spread between runs. If not, a
  /// difference cannot be distinguished from chance, and `ci95` and `significant` are empty.
  std::optional<bool> between_runs = {};
  bool comparable = true;  ///< false: a warning says that it must not be compared; then nothing is significant
  /// True: how even a router is, and even routers can be so in both runs; then nothing is significant. Empty: not judged.
  std::optional<bool> within_chance = {};
};

/// Distance between two routings: 0: the same shares in both runs; 1: no branch is used by both.
struct RoutingDistance {
  std::string router;
  double total_variation = 0;      ///< half the sum over branches of |share in a - share in b|
  double jensen_shannon_bits = 0;  ///< mean divergence of both from their mean
};

struct Comparison {
  std::string a, b;
  std::vector<ComparedFigure> rows;      ///< in the order of the JSON
  std::vector<RoutingDistance> routing;  ///< of the routers that both have, by their loads
  /// "speedup_ci95[0]": an end of an interval, for conditions.
  std::map<std::string, std::array<std::optional<double>, 2>> interval_ends;
  bool same_model = true;  ///< as far as known
  bool same_terms = true;  ///< phase and budget for weights
  bool same_data = true;
  /// False: no figure of one run counts as better or worse than that of the other.
  bool judges() const { return same_model && same_terms && same_data; }
  /// For each side, why a speed-up was not measured well enough, by the path of its key ("speedup_withheld").
  std::array<std::map<std::string, std::string, std::less<>>, 2> withheld;
  /// why the two must not be compared: models, phases, budgets, data, machines that differ
  std::vector<std::string> warnings;
};

/// Each argument is S.storm, S.storm#RUN or a file that --json wrote. Imported runs have figures of their routing only.
/// Throws Error; for recordings of two models it is that of check_like_models().
Comparison compare_runs(const std::string& a, const std::string& b);

/// Number of runs of one call.
inline constexpr size_t kMostComparedRuns = 16;
/// The first run beside each of the others. Error(bad_input) also for none, more than kMostComparedRuns, an empty name,
/// or a name twice.
std::vector<Comparison> compare_with_first(const std::string& first, const std::vector<std::string>& others);

/// A condition on a figure of B, such as "speedup<0.95" or "optimized.latency_ms.median>1.05*a": compared with a
/// number, true or false, or a multiple of A's figure. "speedup_ci95[0]<1" takes an end of its interval,
/// "routing.ROUTER.total_variation>0.1" a distance of the routings.
struct FailCondition {
  std::string text, figure, compare;
  double factor = 1;
  bool of_a = false;
};
/// Throws Error(bad_input) that names --fail-if.
FailCondition parse_fail_condition(const std::string& text);
/// Whether the condition holds, and why. Error(bad_input): an unknown figure, or a multiple of A's figure if the two
/// runs have no difference. A figure that is null (a speed-up that was not verified) holds.
struct FailVerdict {
  bool fails = false;
  std::string reason;
};
FailVerdict judge(const FailCondition& condition, const Comparison& comparison);

/// stormcell.compare/1
std::string to_json(const Comparison& comparison);
/// The same keys for the first two runs. With more runs `runs` has the figures of each behind the first.
std::string to_json(const std::vector<Comparison>& runs);

}  // namespace stormcell
