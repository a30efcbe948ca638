// stormcell.config/1: the passes of a plan with their parameters, to be replayed elsewhere.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace stormcell {

struct PlanConfig {
  std::string model, fingerprint, device, dtype;
  bool bucket_by_length = false;  ///< it was found on batches of like length
  /// In the order they were applied: id, parameters.
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> passes;
};
std::string to_json(const PlanConfig& config);
/// Throws Error(bad_input) that names `where`: not this schema, unknown or planned passes.
PlanConfig parse_plan_config(const std::string& text, const std::string& where);

}  // namespace stormcell
