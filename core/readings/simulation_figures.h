// Figures of a simulation, as stormcell.simulate/1 has them: values for pages.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/step_terms.h"

namespace stormcell {

struct ToldLayer {
  std::string name;
  double dispatch_ms = 0, compute_ms = 0, combine_ms = 0, imbalance = 0;
  double sum_ms() const { return dispatch_ms + compute_ms + combine_ms; }
};
struct ToldGpu {
  int64_t node = 0;
  double compute_ms = 0, waiting_share = 0, sent_bytes = 0, received_bytes = 0, weight_bytes = 0;
};
struct ToldLink {
  std::string name;
  double bytes = 0, busy_share = 0;
};
struct ToldElasticity {
  std::string figure;
  double value = 0;
};
struct ToldMessage {
  int64_t from = 0, to = 0;
  double bytes = 0, end_ms = 0;
};
struct ToldExchange {
  int64_t messages = 0;
  double bytes = 0, closed_form_ms = 0, filled_ms = 0;
  std::vector<ToldMessage> sent;  ///< empty: too many, or none
  bool means = false;             ///< over where tokens may live, or which replicas they go to
};
struct ToldCollective {
  std::string layer;
  int64_t step = 0;
  ToldExchange dispatch, combine;
};
/// Imbalance of the GPUs in a layer, or as a mean over them.
struct ToldBalance {
  std::string name;
  double predicted = 0, shared_evenly = 0;
  std::optional<double> recorded;
};
struct ToldPhase {
  std::string phase, kind, why_not, like;  ///< kind empty: rates of data sheets, and why
  std::optional<double> held_out;
};

/// Choices that a what-if capacity would drop.
struct ToldCapacity {
  double factor = 0, dropped_share = 0;
};

struct SimulationTold {
  std::string version, session, model, cluster, placement, phase, backend, step_kind, sizes;
  // None: not stored, or a word that this version does not know.
  std::optional<ReplicaRule> replicas;
  std::optional<Overlap> overlap;
  int64_t run = 0, nodes = 0, ranks = 0, slot_count = 0, branches = 0, steps = 0;
  double oversubscription = 1;
  double mean_ms = 0, p50_ms = 0, p95_ms = 0, serial_ms = 0;
  std::string contents;  ///< the parts of a step
  std::optional<double> rest_ms, tokens_per_step, tokens_per_s;
  std::string why_no_tokens_per_s;
  double remote_bytes = 0, wire_bytes = 0;
  std::optional<ToldCapacity> capacity;
  std::vector<ToldLayer> layers;
  std::vector<ToldGpu> gpus;
  std::vector<ToldLink> links;
  std::vector<ToldElasticity> sensitivity;
  std::string calibration;  ///< its file; empty: none
  std::vector<ToldPhase> calibrated;
  std::optional<ToldCollective> collective;
  std::vector<ToldBalance> deployment;  ///< the mean first; empty: nothing is compared
  std::vector<std::string> assumptions, lacks, warnings;
};

/// Error(bad_input) that names `where`: no stormcell.simulate/1.
SimulationTold parse_simulation(const std::string& json, const std::string& where);

}  // namespace stormcell
