// Figures of a simulation: times of layers and GPUs, links, one exchange.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/step_terms.h"
#include "core/cell/cell_space.h"
#include "core/cost/layer_cost.h"
#include "core/planning/deployment.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// Times of one GPU alone in a layer: its own messages through its own ports, and its own experts. Means over steps.
struct SimulatedShare {
  double dispatch_ms = 0, compute_ms = 0, combine_ms = 0;
};

/// Means over steps.
struct SimulatedLayer {
  std::string name;
  int32_t number = -1;  ///< of the model, -1: not known
  double dispatch_ms = 0, compute_ms = 0, combine_ms = 0;
  double imbalance = 0;  ///< of its experts' time: slowest GPU / mean - 1
  std::vector<SimulatedShare> gpus = {};
};

struct SimulatedGpu {
  int32_t node = 0;
  double compute_ms = 0;                      ///< of its own experts, in a step
  double waiting_share = 0;                   ///< of the time of the experts' phases, in which others still compute
  double sent_bytes = 0, received_bytes = 0;  ///< in a step, there and back
  double weight_bytes = 0;                    ///< of all its slots
};

struct SimulatedLink {
  std::string name;
  double bytes = 0;       ///< in a step, there and back
  double busy_share = 0;  ///< of the step, at its full rate
};

/// d ln(time of a step) / d ln(figure), measured with the figure larger by a tenth.
struct Elasticity {
  std::string figure;
  double value = 0;
};

struct LinkInterval {
  double begin_ms = 0, end_ms = 0;
  std::vector<double> link_share;  ///< [links of the collective] of their rates, as a mean
};

/// A message from one GPU to another; all begin together.
struct SimulatedMessage {
  int32_t from = 0, to = 0;
  double bytes = 0, end_ms = 0;  ///< in the time of the timeline
};

/// One way of one layer's exchange.
struct SimulatedExchange {
  int64_t messages = 0;
  double bytes = 0, closed_form_ms = 0, filled_ms = 0;
  bool means = false;                  ///< messages are means: over where tokens may live, or which replicas they go to
  std::vector<LinkInterval> timeline;  ///< equal spans of time
  std::vector<SimulatedMessage> sent;  ///< by sender; empty for clusters of more than kMostRanksOfMessages
};
inline constexpr int32_t kMostRanksOfMessages = 8;

/// One direction of a port or uplink.
struct CollectiveLink {
  std::string name;   ///< "GPU 3, fabric out"
  std::string owner;  ///< "GPU 3", "node 1 uplink"
  bool sends = false;
};

struct SimulatedCollective {
  std::string layer;
  int64_t step = 0;
  std::vector<CollectiveLink> links;
  SimulatedExchange dispatch, combine;
};

struct SimulateFigures {
  std::string session, model, cluster, placement;
  int64_t run = 0;
  int32_t nodes = 0, ranks = 0, branches = 0, slot_count = 0;
  std::optional<Phase> phase;  ///< only steps of this phase; none: all
  Backend backend = Backend::per_rank;
  ReplicaRule replicas = ReplicaRule::even;
  Residence residence = Residence::home;
  StepSource step_kind = StepSource::recorded;
  Overlap overlap = Overlap::none;
  double oversubscription = 1;
  ModelSizes sizes;
  std::optional<CalibrationUse> calibration;
  std::optional<StepTrust> trust;  ///< in the mean step without overlap; null: nothing is calibrated by
  int64_t steps = 0;
  int64_t dropped_choices = 0;              ///< dropped by a capacity in the recording: they cost nothing
  std::optional<CapacityFigures> capacity;  ///< null: none was asked for
  std::string contents;                     ///< contents of a step (step_contents()); every result begins with them
  std::optional<double> rest_ms;            ///< stated rest of each step; nothing overlaps it
  double mean_ms = 0, p50_ms = 0, p95_ms = 0;
  double serial_ms = 0;  ///< mean of what the same phases take without overlap
  std::optional<double> tokens_per_step, tokens_per_s;
  std::string why_no_tokens_per_s;          ///< empty: they are stated
  double remote_bytes = 0, wire_bytes = 0;  ///< of a step, there and back: to other GPUs, and sent for that
  std::vector<SimulatedLayer> layers;
  std::vector<SimulatedGpu> gpus;
  std::vector<SimulatedLink> links;  ///< ports and uplinks that carry something
  std::vector<Elasticity> sensitivity;
  std::optional<SimulatedCollective> collective;
  /// null: the placement was made from this very run, or its run is unknown
  std::optional<DeploymentFigures> deployment;
  std::vector<std::string> assumptions, lacks, warnings;
};

}  // namespace stormcell
