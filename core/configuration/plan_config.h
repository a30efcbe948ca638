// stormcell.config/1: the passes of a plan with their parameters, to be replayed elsewhere.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/run_kind.h"
#include "core/cell/intervention.h"
#include "core/cell/router_threshold.h"

namespace stormcell {

struct PlanConfig {
  std::string version;  ///< of the program that wrote it; empty: it does not say
  std::string model, fingerprint, device, dtype;
  WorkPhase phase = WorkPhase::forward;       ///< phase that it was found for: forward or decode
  bool bucket_by_length = false;              ///< it was found on batches of like length
  int64_t weight_budget = 0;                  ///< --weight-budget that it was found with, bytes; 0: none
  std::vector<std::string> annotations = {};  ///< given annotations, NAME.KEY=WORD each; passes find theirs again
  /// Passes in the order in which they were applied: id, parameters.
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> passes;
  Intervention intervention = {};  ///< in a run of what-if
  RouterThresholds exits = {};     ///< in the place of the model's own, in running order; empty: those
};
std::string to_json(const PlanConfig& config);
/// True if a text, such as a session keeps of each run, looks like a configuration; parse_plan_config() checks the
/// rest.
bool has_configuration(std::string_view text);
/// Throws Error(bad_input) that names `where`: not this schema, unknown or planned passes, an unknown number format,
/// thresholds out of range.
PlanConfig parse_plan_config(const std::string& text, const std::string& where);
/// Differences between a configuration and its use, given as `here`, a sentence each: device, number format, budget of
/// weights, version, or no named model. The caller refuses a configuration of another model.
std::vector<std::string> differences(const PlanConfig& wanted, const PlanConfig& here);

}  // namespace stormcell
