// A run's summary, as the verbs write it (stormcell.optimize/1 and its like), as values. Pure.
//
// What was not verified has no speed-up: parsing leaves it out, so that no picture can show it by mistake.
#pragma once
#include <QString>
#include <QStringList>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace stormcell::views {

using Interval95 = std::array<double, 2>;

struct PlanSummary {
  double median = 0, p95 = 0, fastest = 0;  ///< milliseconds a batch
  double mean = 0;                          ///< of the pairs that the speed-up comes from; 0: an older run does not say
  qint64 runs = 0;
  qint64 batches = 0, rounds = 0;  ///< measured, and how often; 0: an older run does not say
  double cells_per_s = 0;
  std::optional<double> limit_share;
  double weight_bytes = 0, activation_bytes = 0;
};

struct ProofSummary {
  bool passed = false;
  QString text;
  double tolerance = 0, largest = 0;  ///< relative to the largest value
  qint64 flips = 0, explained_flips = 0, consequences = 0, dropped = 0;
  QStringList reasons;  ///< why it did not pass
  QString format;       ///< the number format where it is not the stored one, and what it costs
  double format_cost = 0, format_tolerance = 0;
};

struct PassSummary {
  QString name, reason;
  bool applied = false, left_out = false;
  std::optional<double> alone, cumulative;
  std::optional<Interval95> alone_ci, cumulative_ci;
  qint64 guard_hits = 0, fallbacks = 0;
};

struct RouterSummary {
  QString name;
  int branches = 0;
  qint64 cells = 0, dropped = 0;
  double imbalance = 0, entropy = 0;
};

struct GenerateSummary {
  qint64 tokens = 0, sequences = 0, eos = 0, length = 0;
  double tokens_per_s = 0;
  std::optional<double> accuracy;
};

struct Summary {
  QString verb, version, phase;
  QString model, family, weights, data;
  QString device, backend, placement, isa;
  qint64 batches = 0, cells = 0, real_cells = 0, truncated = 0;
  int threads = 0;
  double peak_gflops = 0, read_gbps = 0, unloaded_bytes = 0;
  std::optional<PlanSummary> baseline, optimized;
  std::optional<double> speedup;
  std::optional<Interval95> speedup_ci;
  std::optional<ProofSummary> proof;
  std::vector<PassSummary> passes;
  std::vector<RouterSummary> routers;
  std::optional<GenerateSummary> generated;
  QStringList warnings;
  QString padding;  ///< what padding costs, what batches of like length and unpad save, in words; empty: nothing is padded, or an older run
  qint64 cells_as_given = 0, cells_by_length = 0;
  QString measured;  ///< which batches were profiled and measured, in words

  bool verified() const { return proof && proof->passed; }
};

/// Nothing where the text is no summary of a verb that this version knows; unknown keys are passed over, missing ones stay empty.
std::optional<Summary> parse_summary(const std::string& json);

}  // namespace stormcell::views
