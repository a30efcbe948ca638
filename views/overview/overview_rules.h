// What to do next: a table of rules, each a condition on what is known of a run, a sentence and an action of the
// application. Pure.
#pragma once
#include <QString>
#include <span>
#include <vector>

#include "core/readings/guard_costs.h"
#include "core/readings/run_facts.h"
#include "core/summary/parse.h"

namespace stormcell::views {

/// All that rules may look at.
struct Situation {
  RunFacts facts;
  std::optional<Summary> summary;  ///< see shown()
  std::optional<GuardCosts> guards = {};
  bool repeatable = false;  ///< how the run was made is known
  bool compared = false;    ///< another run is chosen to compare with
};

/// What the page shows of what a run said: nothing of verbs that measure nothing; without the gains of passes where
/// nothing was verified, so that no picture can show them by mistake; with the times of decoding as those of a plan.
std::optional<Summary> shown(const std::shared_ptr<const Summary>& result);

struct RouterSummary {
  QString name;
  int branches = 0;
  int64_t cells = 0, dropped = 0;
  double imbalance = 0, entropy = 0;
};
/// Routers with counted loads: the session's, else the summary's. A run without decisions has zeros in the first, which
/// say nothing.
std::vector<RouterSummary> routers_of(const Situation& situation);

struct NextStep {
  QString rule, sentence, button;
  QString action;  ///< an id of the application's table of actions
};

struct StepRule {
  const char* id;
  bool (*when)(const Situation&);
  QString (*sentence)(const Situation&);
  const char* button;
  const char* action;
};
/// The most urgent first.
std::span<const StepRule> step_rules();

/// The first `most` rules that hold, no action twice.
std::vector<NextStep> next_steps(const Situation& situation, size_t most = 3);

/// Above this, the busiest branch of a router gets at least twice the mean.
constexpr double kHighImbalance = 1.0;

}  // namespace stormcell::views
