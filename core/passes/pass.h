// An optimisation: asks the profile, rewrites the graph, guards what the profile could be wrong about, says why it did or did not apply.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// What passes ask of a profile: loads of every router, summed over the profiled batches, by the router's name.
struct RouterLoad {
  std::vector<int64_t> load;  ///< [branches] cells kept
  int64_t cells = 0;          ///< cells decided about
  int64_t batches = 0;
};
struct LoadProfile {
  std::map<std::string, RouterLoad, std::less<>> routers;
};

/// The machine as predictions see it.
struct MachineModel {
  double peak_f32_gflops = 100, peak_bf16_gflops = 200, read_gbps = 20;
  double step_microseconds = 2;  ///< fixed cost of one step: dispatch and one fork-join
};

using PassParameters = std::map<std::string, std::string>;

struct PassInput {
  const Graph& graph;
  const LoadProfile& profile;
  const MachineModel& machine;
  Bindings typical;                            ///< extents of a typical batch, for predictions
  const PassParameters* parameters = nullptr;  ///< of a configuration: does the same again, whatever the profile says
};

struct PassResult {
  Graph graph;  ///< equal to the input's where not applied; verified
  bool applied = false;
  std::string reason;                       ///< one sentence: what was done, or why not
  std::optional<double> predicted_speedup;  ///< of the whole forward pass, from bytes, FLOP and steps
  PassParameters parameters;                ///< what `run --config` needs to do the same again
};

struct Pass {
  std::string_view id, summary;
  bool lossy = false;  ///< runs only when enabled by name
  PassResult (*run)(const PassInput& input) = nullptr;
};

/// The visible list, in the order in which the pipeline applies them.
std::span<const Pass> passes();
/// nullptr for an unknown id.
const Pass* find_pass(std::string_view id);
/// Ids of the contract that this version does not have.
bool is_planned_pass(std::string_view id);

/// Predicted time of one forward pass, in milliseconds: the sum over steps of max(bytes / bandwidth, FLOP / peak) plus the fixed cost. Rows
/// are the profile's means a batch; a branch that gets less than one row a batch runs in that share of the batches, without load never.
/// Without a profile all branches get equal shares. Fallbacks do not run; a repeat takes all its turns.
double predict_milliseconds(const Graph& graph, const LoadProfile& profile, const MachineModel& machine, const Bindings& bindings);

}  // namespace stormcell
