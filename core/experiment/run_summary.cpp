#include "core/experiment/run_summary.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/bench/experiment_figures.h"
#include "core/bench/pass_report.h"
#include "core/graph/annotation_rules.h"
#include "core/machine/memory.h"
#include "core/summary/measured_text.h"

namespace stormcell {

std::shared_ptr<RunSummaryFigures> start_summary(const Workload& work, RunKind verb) {
  const ExperimentState& s = work.state();
  auto r = std::make_shared<RunSummaryFigures>();
  r->verb = to_text(verb);
  r->model = model_figures(s);
  r->dataset = dataset_figures(s);
  r->phase = to_text(work.phase());
  r->settings = settings_json(s, work.phase());
  r->warnings = warnings_of(s);
  if (work_phase(s.options.phase) == WorkPhase::forward &&
      s.options.most_new_tokens != ExperimentOptions().most_new_tokens)
    r->warnings.emplace_back(
        "--max-new-tokens is for decoding, and a forward pass makes no tokens: --phase decode asks for them");
  r->warnings.insert(r->warnings.end(), work.idle_annotations().begin(), work.idle_annotations().end());
  tell_of_annotations(work, *r);
  return r;
}

void tell_of_annotations(const Workload& work, RunSummaryFigures& figures) {
  figures.annotated.clear();
  const std::vector<AnnotatedNames> held = held_names(*work.graph(), work.annotations(), "annotations");
  for (size_t i = 0; i < held.size(); ++i)
    if (!held[i].names.empty()) figures.annotated.push_back(to_text(held[i]) + ": " + work.annotations()[i]);
}

QualityMeter quality_meter(const Workload& work) {
  const ExperimentState& s = work.state();
  return work.phase() == WorkPhase::forward ? QualityMeter(*s.model, *s.data) : QualityMeter();
}

void tell_of_guards(const ReadyPlan& plan, RunSummaryFigures& figures) {
  add_guard_counts(plan, figures.passes);
  int64_t hits = 0, misses = 0;
  for (const auto& [pass, counts] : plan.guards) hits += counts.hits, misses += counts.misses;
  if (misses <= hits) return;
  figures.warnings.push_back(
      "the guards missed " + std::to_string(misses) + " of " + std::to_string(hits + misses) + " times, each counted " +
      guards_counted(figures.phase) +
      ": this data uses branches the plan left out, and each miss runs the slower fallback; run optimize on more of "
      "such data, or --disable the pass that has guards");
}

void set_figures_at_end(const ReadyPlan& plan, RunSummaryFigures& figures) {
  figures.peak_resident_bytes = std::max(figures.peak_resident_bytes, peak_resident_memory());
  figures.unloaded_weight_bytes = plan.unloaded_weight_bytes();
  warn_of_lost_events(plan, figures.warnings);
}

void warn_of_lost_events(const ReadyPlan& plan, std::vector<std::string>& warnings) {
  if (plan.lost_events == 0) return;
  warnings.push_back(counted(plan.lost_events, "step") + " of plan \"" + plan.name() +
                     "\" left no event, because a batch has room for " + std::to_string(kMostEvents) +
                     ": timelines and times by operator lack them; fewer new tokens leave fewer");
}

PlanConfig start_config(const Workload& work) {
  const ExperimentState& s = work.state();
  PlanConfig config;
  config.model = s.model->name;
  config.fingerprint = s.model->fingerprint;
  config.device = s.options.device;
  config.phase = work.phase();
  config.dtype = std::string(to_text(s.dtype));
  config.bucket_by_length = s.options.bucket_by_length;
  config.weight_budget = s.options.weight_budget;
  if (work.phase() == WorkPhase::forward) config.exits = work.thresholds();
  config.intervention = work.intervention();
  for (const std::string& text : s.options.annotations)
    if (may_annotate(*work.graph(), text, "--annotate")) config.annotations.push_back(text);
  return config;
}

}  // namespace stormcell
