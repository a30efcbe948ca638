// Results of searches for placements, as sessions keep them: values for pages and views.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"
#include "core/base/step_terms.h"

namespace stormcell {

struct PlacementFigures {
  double imbalance = 0;
  std::optional<double> cross_pairs, ranks_per_token, objective_ms;  ///< null: the data do not say
};
/// A layout by name, on what it was fitted to and on what was held out.
struct PlacementLayoutLine {
  std::string name;
  PlacementFigures fit;
  std::optional<PlacementFigures> held_out;
};
/// One layout's figures minus another's on what was held out, with their 95 % intervals. Null: not known.
struct PlacementDifference {
  struct Interval {
    double value = 0, low = 0, high = 0;
  };
  std::string one, other;
  std::optional<Interval> imbalance, cross_pairs, ranks_per_token, objective_ms;
};
/// The data and rules behind the figures. Empty: not stored. Strings hold the words of the file, which pages show;
/// enumerations are words that decide.
struct PlacementBasis {
  std::string phase, unit;  ///< unit: what was split, "steps" or "tokens"
  std::optional<HeldOutBy> held_out;
  int64_t fitted = 0, judged = 0;  ///< counts of the unit
  std::string backend, step_kind;
  FileWord<ReplicaRule> replicas;
  FileWord<Residence> residence;
  std::optional<StepStatistic> statistic;
  int64_t tokens_per_step = 0, amortise = 0;
  std::string sizes, calibration;  ///< the source of the model's sizes, the calibration's file
};
/// The solver of a placement that was made in the Studio.
inline constexpr std::string_view kMadeByHand = "hand";
struct PlacementOfRun {
  int64_t id = 0, run = 0;
  std::string name, solver, created;  ///< solver: kMadeByHand, or that of a search
  std::string cluster, advice;
  int32_t nodes = 0, ranks = 0, slot_count = 0;
  int64_t moved_slots = 0;
  std::vector<PlacementLayoutLine> layouts, front;  ///< front: the most even one first
  std::vector<PlacementDifference> differences;
  std::string drawn;  ///< the unit that intervals are over: "requests", "blocks of 8 steps"
  PlacementBasis basis;
  std::vector<std::string> warnings;
};

/// Reads stormcell.place/1; what another version wrote otherwise is empty. `id` and what the session says are left to
/// the caller.
PlacementOfRun parse_place_summary(const std::string& json);

}  // namespace stormcell
