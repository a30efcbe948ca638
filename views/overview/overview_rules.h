// Next steps: a table of rules, each a condition on the facts of a run, a sentence and an action of the application.
// Pure.
#pragma once
#include <QString>
#include <optional>
#include <span>
#include <vector>

#include "core/readings/guard_costs.h"
#include "core/readings/run_facts.h"
#include "core/summary/parse.h"

namespace stormcell::views {

/// The facts that rules can use.
struct Situation {
  RunFacts facts;
  std::optional<Summary> summary;  ///< see shown()
  std::optional<GuardCosts> guards = {};
  bool repeatable = false;  ///< how the run was made is known
  bool compared = false;    ///< another run is chosen to compare with
};

/// The part of a run's result that the page shows. Verbs that measure nothing have none. Without verification, gains of
/// passes are dropped, so that no picture shows them by mistake. Times of decoding become those of a plan.
std::optional<Summary> shown(const std::shared_ptr<const Summary>& result);

struct RouterSummary {
  QString name;
  int branches = 0;
  int64_t cells = 0, dropped = 0;
  double imbalance = 0, entropy = 0;
  std::optional<LoadChance> chance = {};  ///< null: not judged
  /// Even routers with as many cells have such loads, too: nothing is learnt from its imbalance.
  bool within_chance() const { return chance && !chance->beyond; }
};
/// Routers with counted loads: the session's, or the summary's. A run without decisions has only zeros in the session.
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
/// Rules in order of urgency.
std::span<const StepRule> step_rules();

/// The first `most` rules that hold, each action once.
std::vector<NextStep> next_steps(const Situation& situation, size_t most = 3);

/// Above this, the busiest branch of a router gets at least twice the mean.
constexpr double kHighImbalance = 1.0;

}  // namespace stormcell::views
