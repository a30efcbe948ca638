#include "core/experiment/pass_report.h"

namespace stormcell {

PassReport report_of(const PassOutcome& outcome) {
  PassReport report;
  report.name = std::string(outcome.pass->id);
  report.applied = outcome.cumulative.applied;
  for (const auto& [key, text] : outcome.options) report.reason += (report.reason.empty() ? "with " : ", ") + key + "=" + text;
  report.reason += (report.reason.empty() ? "" : ": ") + outcome.cumulative.reason;
  report.predicted_speedup = outcome.cumulative.predicted_speedup;
  report.options = outcome.options;
  report.parameters = outcome.cumulative.parameters;
  return report;
}

}  // namespace stormcell
