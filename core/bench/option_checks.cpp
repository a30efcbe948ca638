#include "core/bench/option_checks.h"

#include "core/base/error.h"
#include "core/base/run_kind.h"

namespace stormcell {

void check_dense(const ExperimentOptions& options) {
  if (!options.dense) return;
  if (work_phase(options.phase) != WorkPhase::forward)
    bad_input("--dense", "measures a forward pass, and --phase " + options.phase + " decodes", "leave one of them out");
  if (options.weight_budget > 0)
    bad_input("--dense",
              "needs the weights of all branches for every cell, and --weight-budget holds only a part of them",
              "leave one of them out");
}

void check_target(const ExperimentOptions& options) {
  const std::string option = target_option(options);
  if (option.empty()) return;
  if (!options.target_quality.empty() && !options.target_latency.empty())
    bad_input("--target-latency",
              "asks for the best answers within a cost, and --target-quality for the least cost of a quality",
              "leave one of them out");
  if (work_phase(options.phase) != WorkPhase::forward)
    bad_input(option, "is of a forward pass, and --phase " + options.phase + " decodes", "leave one of them out");
}

std::string target_option(const ExperimentOptions& o) {
  return !o.target_quality.empty() ? "--target-quality" : !o.target_latency.empty() ? "--target-latency" : "";
}

}  // namespace stormcell
