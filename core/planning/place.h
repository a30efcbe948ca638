// Placements of a session's experts on a cluster: searched, judged on what they were not fitted to, and stored.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/planning/step_figures.h"

namespace stormcell {

struct PlaceOptions {
  std::string session;  ///< S.storm, S.storm#3, S.storm#name: whose loads
  std::string cluster;  ///< preset:NAME or a file
  std::string solver = "eplb";
  std::string name;           ///< of the placement; empty: the solver's
  std::string phase;          ///< "prefill", "decode": of these batches alone; empty: of all
  int64_t redundant = 0;      ///< spare slots a layer, on all ranks together
  int64_t groups = 0;         ///< of consecutive experts that a node should hold whole; 0: as the model says, else none
  double fit_fraction = 0.7;  ///< share of the steps that it is fitted to; the rest judges
  StepOptions step;           ///< how a step is costed
  SizeOptions sizes;          ///< of the model, where the session does not say them
  int64_t amortise = 0;       ///< steps over which moving the experts pays off; 0: moving is not counted
};

/// A share above 0 and at most 1; Error(bad_input) that names --fit-fraction otherwise.
double parse_fit_fraction(std::string_view text);

struct PlacementSolver {
  std::string_view id, summary;
};
/// The visible list.
std::vector<PlacementSolver> placement_solvers();

/// How tokens may come to their experts' ranks: what --backend takes.
std::vector<std::string_view> placement_backends();

/// What a layout does on some of the steps. Null: the data or this version do not say.
struct LayoutFigures {
  double imbalance = 0;                   ///< mean over layers of max / mean - 1 over ranks
  std::optional<double> cross_pairs;      ///< share of the pairs of a token's consecutive experts that lie on two ranks
  std::optional<double> ranks_per_token;  ///< distinct GPUs that a token goes to at a layer, as a mean
  std::optional<StepFigures> step;        ///< what steps cost; null where sizes are not known
  std::optional<double> objective_ms;     ///< of a step, the move of the experts included
};

struct LayoutLine {
  std::string name;  ///< contiguous, eplb, result
  LayoutFigures fit;
  std::optional<LayoutFigures> held_out;
};

struct PlaceFigures {
  std::string session, model, cluster;
  int64_t run = 0, placement = 0;  ///< numbers in the session
  int32_t layers = 0, branches = 0, nodes = 0, ranks = 0, slot_count = 0;
  std::string solver, phase;
  double fit_fraction = 0, seconds = 0;
  std::string unit;  ///< what was split: "steps", or "tokens" where the run keeps single choices
  int64_t steps_fit = 0, steps_held_out = 0;
  std::optional<ModelSizes> sizes;
  std::string backend, step_kind;               ///< empty where steps are not costed
  int64_t costed_fit = 0, costed_held_out = 0;  ///< steps
  std::vector<LayoutLine> layouts;
  int64_t moved_slots = 0;            ///< whose branch is not on its rank in the contiguous layout, over all layers
  std::optional<int64_t> slot_bytes;  ///< weights of one slot in all layers; null: not known
  std::string advice;                 ///< "stay: ...", "eplb: ..." or "result: ..."
  std::vector<std::string> lacks, warnings;
};

/// Searches, stores the placement in the session and tells its figures. Error(bad_input): no loads, a cluster that does not fit, slots that
/// do not divide, a solver that is not there.
PlaceFigures place(const PlaceOptions& options, const Progress& progress = {});
/// stormcell.place/1
std::string to_json(const PlaceFigures& figures);

}  // namespace stormcell
