#include <algorithm>
#include <chrono>

#include "core/experiment/experiment.h"
#include "core/experiment/outputs.h"
#include "core/experiment/pass_report.h"
#include "core/experiment/recording.h"
#include "core/experiment/state.h"
#include "core/machine/memory.h"
#include "core/passes/pipeline.h"
#include "core/summary/plan_config.h"

namespace stormcell {

std::shared_ptr<const RunSummaryFigures> Experiment::run(const RunOptions& run, const Progress& progress) {
  State& s = *state_;
  auto result = std::make_shared<RunSummaryFigures>();
  RunSummaryFigures& r = *result;
  r.verb = run.decisions ? "profile" : "run";
  r.model = s.model_figures();
  r.dataset = s.dataset_figures();
  r.settings = s.settings_json();
  r.warnings = s.warnings();

  std::shared_ptr<const Graph> graph = s.graph;
  PlanConfig config;
  config.model = r.model.name;
  config.fingerprint = r.model.fingerprint;
  config.device = s.options.device;
  config.dtype = std::string(to_text(s.dtype));
  if (!run.config.empty()) {
    const PlanConfig wanted = parse_plan_config(run.config, "--config");
    if (!wanted.fingerprint.empty() && !s.model->is_known_as(wanted.fingerprint))
      r.warnings.push_back("the configuration was made for another model (" + wanted.model + "): only what fits is taken over");
    PipelineResult replayed =
        replay_passes({*graph, {}, s.machine_model(), bounds_of(*graph, *s.data, 0), nullptr, {}, mask_facts(*graph, *s.data)},
                      {wanted.passes.begin(), wanted.passes.end()});
    for (const PassOutcome& outcome : replayed.outcomes) {
      PassReport& report = r.passes.emplace_back(report_of(outcome));
      report.predicted_speedup.reset();  // a replay has no profile: a prediction would be of loads that nobody counted
      if (!report.applied) r.warnings.push_back("pass " + report.name + " could not be taken over: " + report.reason);
      config.passes.emplace_back(report.name, saved_parameters(outcome));
    }
    graph = std::make_shared<Graph>(std::move(replayed.graph));
  }
  r.config = to_json(config);

  std::unique_ptr<ReadyPlan> plan = s.make_plan(run.config.empty() ? "baseline" : "optimized", graph, 0, progress);
  r.load_seconds = s.store->load_seconds();

  // The first pass over the data: recorded, and written out where asked for.
  RoutingTotals totals;
  std::vector<double> recorded_ms;
  {
    SessionRun session(run.session, s, *plan, r.verb, run.decisions);
    OutputWriter outputs(run.outputs, s, *plan);
    for (int64_t b = 0; b < s.data->batch_count(); ++b) {
      progress.report("running", b, s.data->batch_count());
      const Batch batch = s.data->batch(b);
      ExecuteOptions execute;
      execute.record = true;
      execute.events = session.open();
      execute.outputs = outputs.open();
      s.run_batch(*plan, batch, execute);
      recorded_ms.push_back(plan->result.milliseconds);
      s.add_routing(*plan, batch, totals);
      session.add(batch);
      outputs.add(batch);
    }
    outputs.finish();
    r.routing = totals.routers;

    // Then the plain plan, batch after batch, until the time is up.
    std::vector<Batch> batches;
    double once_ms = 0;
    for (const double ms : recorded_ms) once_ms += ms;
    // With recording the two are compared, and few rounds say little about a difference of a hundredth.
    const int rounds_at_least = run.decisions && run.measure_seconds > 0 ? kLeastRounds : 3;
    for (const int64_t b : measured_batches(s.data->batch_count(), once_ms, run.decisions ? 2 : 1, rounds_at_least, run.measure_seconds))
      batches.push_back(s.data->batch(b));
    bool recording_measured = run.decisions;
    const auto pass_over = [&](bool record) {
      std::vector<double> ms;
      for (const Batch& batch : batches) {
        progress.cancel.check();
        ExecuteOptions execute;
        execute.record = record;
        execute.events = record;
        const auto begin = std::chrono::steady_clock::now();
        s.run_batch(*plan, batch, execute);
        if (record) session.measure_recording(batch);
        const double wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
        ms.push_back(record ? wall : std::max(plan->result.milliseconds, wall));
      }
      if (record) {
        // What is still being written belongs to this round, not to the one that follows.
        const auto begin = std::chrono::steady_clock::now();
        recording_measured = session.finish_measured() && recording_measured;
        ms.back() += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      }
      return ms;
    };
    std::vector<std::function<std::vector<double>()>> plans = {[&] { return pass_over(false); }};
    if (run.decisions) plans.push_back([&] { return pass_over(true); });
    const Rounds rounds = alternate(plans, run.measure_seconds, rounds_at_least, progress);
    if (recording_measured) {
      const Ratio cost = ratio_of_medians(rounds.total[1], rounds.total[0]);
      r.record_overhead = cost.value - 1;
      r.record_work = session.measured_work() * static_cast<double>(batches.size()) / std::max(median(rounds.total[0]), 1e-6);
      if (rounds.total[0].size() >= kLeastRounds) r.record_overhead_ci95 = {{cost.ci95[0] - 1, cost.ci95[1] - 1}};
    }
    PlanFigures figures = s.plan_figures(*plan, batches, rounds.batches[0]);
    // The machine may have changed since it was probed before: the larger ceilings count, so that no share is made greater by a busy
    // moment.
    r.peak_resident_bytes = peak_resident_memory();
    s.probe(1, progress);
    if (run.measure_seconds > 0) s.warn_of_noise(rounds.batches[0], batches.size(), r.warnings);
    const std::vector<OperatorTime> operators = s.operator_times(*plan, progress);
    double limit = 0;
    for (const Batch& batch : batches) {
      ExecuteOptions execute;
      execute.record = true;
      s.run_batch(*plan, batch, execute);
      limit += s.limit_milliseconds(*plan, bindings_of(*plan->graph, batch, 0), nullptr) / static_cast<double>(batches.size());
    }
    double mean = 0;
    for (const double ms : rounds.batches[0]) mean += ms / static_cast<double>(rounds.batches[0].size());
    if (mean > 0) figures.limit_share = limit / mean;
    (run.config.empty() ? r.baseline : r.optimized) = figures;
    (run.config.empty() ? r.baseline_operators : r.optimized_operators) = operators;

    r.verified = s.verify(*plan, nullptr, progress);
    r.peak_resident_bytes = std::max(r.peak_resident_bytes, peak_resident_memory());
    // At the end: what a miss had to load counts as loaded.
    r.unloaded_weight_bytes = plan->executor->unloaded_weight_bytes();
    State::warn_of_misses(*plan, r.warnings);
    for (PassReport& pass : r.passes)
      for (size_t g = 0; g < plan->guard_hits.size(); ++g)
        if (plan->program->guards[g].pass == pass.name) pass.guard_hits += plan->guard_hits[g], pass.fallbacks += plan->guard_misses[g];
    r.device = s.device_figures();
    r.session = run.session;
    if (run.decisions) {
      for (const auto& router : totals.by_label)
        for (const auto& [label, loads] : router)
          if (std::find(r.labels.begin(), r.labels.end(), label) == r.labels.end()) r.labels.push_back(label);
      r.decisions = session.decisions();
      r.windows = session.windows();
    }
    r.session_run = session.finish(to_json(r));
  }
  return result;
}

}  // namespace stormcell
