#include "core/experiment/pass_report.h"

namespace stormcell {

PassReport report_of(const PassOutcome& outcome) {
  PassReport report;
  report.name = std::string(outcome.pass->id);
  report.applied = outcome.cumulative.applied;
  for (const auto& [key, text] : outcome.options) report.reason += (report.reason.empty() ? "with " : ", ") + key + "=" + text;
  report.reason += (report.reason.empty() ? "" : ": ") + outcome.cumulative.reason;
  report.options = outcome.options;
  report.parameters = outcome.cumulative.parameters;
  report.leaves_padding_out = outcome.pass->leaves_padding_out;
  return report;
}

void add_guard_counts(const ReadyPlan& plan, std::vector<PassReport>& passes) {
  for (PassReport& pass : passes)
    if (const auto counts = plan.guards.find(pass.name); counts != plan.guards.end())
      pass.guard_hits += counts->second.hits, pass.fallbacks += counts->second.misses;
}

void Gains::set(const PassReport& pass, const Ratio& ratio, const std::string& wrong, std::optional<double>& value,
                std::optional<std::array<double, 2>>& ci95) {
  value.reset(), ci95.reset();
  if (!wrong.empty()) {
    withheld_.try_emplace(pass.name, wrong);
    return;
  }
  value = ratio.value;
  ci95 = ratio.ci95;
}

void Gains::tell(std::vector<PassReport>& passes, std::vector<std::string>& warnings) const {
  for (PassReport& pass : passes) {
    const auto at = withheld_.find(pass.name);
    if (at == withheld_.end()) continue;
    pass.reason += " (no speed-up: a plan that was measured for it differs from the baseline: " + at->second + ")";
    warnings.push_back("pass " + pass.name + " has no speed-up: a plan that was measured for it differs from the baseline: " + at->second);
  }
}

}  // namespace stormcell
