// What the pipeline did, as results report it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/experiment/paired_speedup.h"
#include "core/experiment/ready_plan.h"
#include "core/passes/pipeline.h"
#include "core/summary/results.h"

namespace stormcell {

/// Without measured figures.
PassReport report_of(const PassOutcome& outcome);
/// What the held-out batches say of the routers that a pass takes for constant: counts, and a sentence in its reason. `held_out`: what the
/// baseline's routers got there.
void add_held_out(const std::vector<ConstantClaim>& claims, const LoadProfile& held_out, PassReport& report);
/// Counts of the plan's guards, to the applied pass that makes them.
void add_guard_counts(const ReadyPlan& plan, std::vector<PassReport>& passes);

/// Speed-ups of passes. Two kinds are withheld, with a message: those of a plan whose results differ from the baseline's, and those from
/// too few pairs.
class Gains {
 public:
  /// `held_out`: the number of batches that could be measured.
  explicit Gains(int64_t held_out) : held_out_(held_out) {}
  /// Sets a figure of `pass`. `wrong`: how a plan that it comes from differs from the baseline; empty: not at all.
  void set(PassReport& pass, const Ratio& ratio, const std::string& wrong, std::optional<double>& value,
           std::optional<std::array<double, 2>>& ci95);
  /// Adds what was withheld to the passes' reasons and to the warnings.
  void tell(std::vector<PassReport>& passes, std::vector<std::string>& warnings) const;

 private:
  int64_t held_out_;
  std::map<std::string, std::string> withheld_;  ///< by pass: why
};

}  // namespace stormcell
