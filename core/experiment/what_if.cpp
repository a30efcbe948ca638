// what-if: runs the unchanged model, then the model with its routing changed, over the same data, forward or decoding;
// both recorded and verified.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/experiment/answer_changes.h"
#include "core/experiment/experiment.h"
#include "core/experiment/run_workload.h"
#include "core/graph/intervened.h"
#include "core/quality/interval.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

void check_intervention_of(const ExperimentState& state, const Intervention& intervention) {
  if (intervention.empty())
    bad_input("what-if", "nothing is to be changed", "use --off ROUTER/BRANCH, --k N, --capacity N or --force FILE");
  if (work_phase(state.options.phase) == WorkPhase::both)
    bad_input("--phase", "what-if changes one phase at a time", "use forward or decode");
}

std::unique_ptr<Workload> workload_of(ExperimentState& state, const Intervention& intervention) {
  if (work_phase(state.options.phase) == WorkPhase::decode)
    return std::make_unique<Decoding>(state, RouterThresholds(), intervention);
  return std::make_unique<ForwardPass>(state, RouterThresholds(), intervention);
}

/// "8 cells a branch", "all cells".
std::string capacity_words(const Capacity& capacity) {
  switch (capacity.unit) {
    case Capacity::Unit::cells:
      return counted(static_cast<int64_t>(capacity.value), "cell") + " a branch of each sequence";
    case Capacity::Unit::factor:
      return to_text(capacity) + " the even share of a batch a branch";
    case Capacity::Unit::all:
      break;
  }
  return "all cells";
}

std::vector<std::string> sentences_of(const Workload& work) {
  const Intervention& wanted = work.intervention();
  std::vector<std::string> sentences;
  for (const auto& [router, off] : branches_off(wanted))
    for (const int32_t b : off) sentences.push_back(router + "/" + std::to_string(b) + " is off");
  if (wanted.k > 0) sentences.push_back("each cell takes " + counted(wanted.k, "branch"));
  for (const CapacityChange& change : wanted.capacities)
    sentences.push_back((change.router.empty() ? "each router" : change.router) + std::string(" serves ") +
                        capacity_words(change.capacity));
  if (const ForcedChoices* forced = work.forced())
    sentences.push_back("choices of " + counted(std::ssize(forced->routers()), "router") + " are those of " +
                        forced->file());
  return sentences;
}

/// Routers that the intervention mentions, in running order; k concerns all that take one.
std::vector<LoadChange> loads_of(const Workload& work, const RunSummaryFigures& before,
                                 const RunSummaryFigures& after) {
  const BranchesOff off = branches_off(work.intervention());
  const Capacities capacities = changed_capacities(*work.graph(), work.intervention());
  std::set<std::string> named;
  for (const auto& [router, branches] : off) named.insert(router);
  for (const auto& [router, capacity] : capacities) named.insert(router);
  if (work.forced())
    for (const std::string& router : work.forced()->routers()) named.insert(router);
  std::vector<LoadChange> loads;
  for (size_t r = 0; r < before.routing.size(); ++r) {
    const RouterFigures &a = before.routing[r], &b = after.routing[r];
    if (!named.contains(a.router) && a.fan_out == b.fan_out) continue;
    const auto at = off.find(a.router);
    const auto room = capacities.find(a.router);
    loads.push_back({a.router, at == off.end() ? std::vector<int32_t>() : at->second, a.load_real, b.load_real,
                     room == capacities.end() ? std::string() : to_text(room->second), a.dropped, b.dropped});
  }
  return loads;
}

/// The interval of a class, which the figures of a run do not have: where answers are counted, the share gives it.
std::optional<std::array<double, 2>> interval_of_group(const QualityFigures& q, double value, int64_t items) {
  if (q.counts.empty()) return std::nullopt;
  return wilson_interval(std::llround(value * static_cast<double>(items)), items);
}

void set_quality(const Task task, const RunSummaryFigures& before, const RunSummaryFigures& after, WhatIfFigures& f) {
  if (!before.quality || !after.quality || !before.quality->baseline || !after.quality->baseline) return;
  const QualityFigures &a = *before.quality, &b = *after.quality;
  f.measure = a.measure, f.unit = a.unit;
  if (const QualityTask* row = quality_task(task)) f.more_is_better = row->more_is_better;
  f.quality = QualityChange{
      "", a.baseline->items, a.baseline->value, b.baseline->value, a.baseline->value_ci95, b.baseline->value_ci95};
  for (size_t g = 0; g < std::min(a.groups.size(), b.groups.size()); ++g) {
    const GroupQuality &of_a = a.groups[g], &of_b = b.groups[g];
    if (!of_a.baseline || !of_b.baseline) continue;
    f.groups.push_back({of_a.name, of_a.items, *of_a.baseline, *of_b.baseline,
                        interval_of_group(a, *of_a.baseline, of_a.items),
                        interval_of_group(b, *of_b.baseline, of_b.items)});
  }
}

}  // namespace

std::shared_ptr<const WhatIfFigures> Experiment::what_if(const WhatIfOptions& options, const Progress& progress) {
  state_->ceilings.begin_call();
  ExperimentState& s = *state_;
  check_intervention_of(s, options.intervention);
  const std::unique_ptr<Workload> plain = workload_of(s, {}), changed = workload_of(s, options.intervention);
  RunOptions run;
  run.session = options.session;
  run.measure_seconds = options.measure_seconds, run.measuring_program = options.measuring_program;
  std::shared_ptr<const RunAnswers> answers, other_answers;
  run.answered = [&](const std::shared_ptr<const RunAnswers>& kept) { answers = kept; };
  auto f = std::make_shared<WhatIfFigures>();
  const auto before = run_workload(*plain, run, progress);
  run.answered = [&](const std::shared_ptr<const RunAnswers>& kept) { other_answers = kept; };
  run.beside = answers, run.beside_run = before->session_run;
  const auto after = run_workload(*changed, run, progress);
  f->changes = sentences_of(*changed);
  if (changed->new_tokens() > 0) f->texts = changed_texts(*answers, *other_answers, s.model->tokenizer.get());
  f->item = after->changed->item, f->outputs = after->changed->outputs;
  f->answer = after->changed->answer, f->answers = after->changed->answers;
  set_quality(s.model->answer.task, *before, *after, *f);
  if (before->item_costs && after->item_costs) {
    f->operations_before = before->item_costs->operations;
    f->operations_after = after->item_costs->operations;
  }
  f->routers = loads_of(*changed, *before, *after);
  f->warnings = before->warnings;
  for (const std::string& w : after->warnings)
    if (std::find(f->warnings.begin(), f->warnings.end(), w) == f->warnings.end()) f->warnings.push_back(w);
  f->before = before, f->after = after;
  return f;
}

}  // namespace stormcell
