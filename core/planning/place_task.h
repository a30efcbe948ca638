// Input of a search: cluster, loads, choices, slots, and the cost of a step.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell/cell_space.h"
#include "core/cost/cluster.h"
#include "core/placement/eplb.h"
#include "core/placement/traffic.h"
#include "core/planning/place_options.h"
#include "core/planning/step_figures.h"
#include "core/planning/step_loads.h"
#include "core/planning/step_objective.h"
#include "core/session/session_reader.h"

namespace stormcell {

/// The objective refers to the routes beside it.
struct PlaceTask {
  PlaceTask() = default;
  PlaceTask(const PlaceTask&) = delete;
  PlaceTask& operator=(const PlaceTask&) = delete;

  Cluster cluster;
  double oversubscription = 1;  ///< capacity of a node's network ports / capacity of its uplink
  std::optional<Phase> phase;   ///< only steps of this phase; none: all steps
  ReplicaRule replicas = ReplicaRule::even;
  RunSummary run;
  RunLayout layout;
  SplitLoads loads;
  std::optional<SplitRoutes> routes;
  EplbShape shape;
  int32_t branches = 0;
  int32_t dropped_homes = 0;           ///< ranks whose tokens were recorded, where they are not those of the cluster
  std::vector<int32_t> layer_numbers;  ///< [routers] of the model, -1: not known
  std::optional<ModelSizes> sizes;
  CostModel model;                         ///< cost of a step, if sizes are known
  std::optional<StepObjective> objective;  ///< null: sizes are not known, or the data is one sum of many steps
  std::optional<CalibrationUse> calibration;
  Placement before;                   ///< the layout before the move: that of --from, else the contiguous one
  std::vector<std::string> left_out;  ///< sentences about files
  std::string from_doubt;             ///< the doubt whether it is of this model; empty: it is, or it is a server's file
  double move_ms = 0;                 ///< time of one slot's move, divided by the steps in which it pays off
  /// The rule by which everything is counted.
  ReplicaWay way() const { return {replicas, cluster.nodes}; }
};

/// `selector`: of a run. Error(bad_input): as place() says.
void read_task(const PlaceOptions& options, const SessionReader& session, const std::string& selector, PlaceTask& task,
               const Progress& progress);

/// Checks that another session is of this model; of another model its experts would say nothing. Returns the reason for
/// doubt; empty: it is this model. `named`: the other session, as the user named it. Error(bad_input): it is of another
/// model.
std::string doubt_of_model(const SessionReader& session, const PlaceTask& task, const SessionReader& other,
                           const RunSummary& run, const std::string& named, const std::string& advice);

/// Weights of one slot in all layers; null: not known.
std::optional<double> slot_bytes_of(const PlaceTask& task);
/// Error(bad_input): a GPU cannot hold the experts of its slots.
void check_memory(const PlaceTask& task);

/// The part of the data that layouts are judged by and searches are fitted to. All that it refers to must outlive it.
struct DataSlice {
  const LayerLoads& loads;
  const TokenRoutes* routes = nullptr;  ///< null: there are counts alone
  std::span<const size_t> tokens = {};
  ReplicaWay way = {};
  const StepObjective* objective = nullptr;  ///< null: sizes are not known, or the data is one sum of many steps
  DataPart part = DataPart::fitted;          ///< part of the objective
};
DataSlice slice_of(const PlaceTask& task, DataPart part);

/// The part to fit, in two: one for fitting candidates, and the validation part, which chooses among them.
struct ValidationSplit {
  OfParts<LayerLoads> loads;
  TokenParts tokens;
  std::optional<StepObjective> objective;
};
/// Splits by the rule that held the rest out: whole requests, or by time. Null: the part is too small to be parted.
std::unique_ptr<ValidationSplit> split_for_validation(const PlaceOptions& options, const PlaceTask& task);
DataSlice slice_of(const PlaceTask& task, const ValidationSplit& split, DataPart part);

/// Whether a placement is named by a session, and not a server's file.
bool is_session(const std::string& spec);

/// Layers of the model, those without experts included; 0: the import did not say.
int32_t model_layers_of(const RunSummary& run);

/// Warns of drawn steps with many more tokens than were recorded; empty: no warning.
std::string warning_of_drawn_steps(const PlaceTask& task);

/// Whether the import said that the data lacks this (kTraceFacts).
bool task_lacks(const PlaceTask& task, std::string_view fact);

}  // namespace stormcell
