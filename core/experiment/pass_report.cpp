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
  return report;
}

void add_guard_counts(const ReadyPlan& plan, std::vector<PassReport>& passes) {
  for (PassReport& pass : passes)
    for (size_t g = 0; g < plan.guard_hits.size(); ++g)
      if (plan.program->guards[g].pass == pass.name) pass.guard_hits += plan.guard_hits[g], pass.fallbacks += plan.guard_misses[g];
}

}  // namespace stormcell
