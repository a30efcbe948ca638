#include <algorithm>

#include "core/experiment/experiment.h"
#include "core/experiment/pass_report.h"
#include "core/experiment/recording.h"
#include "core/experiment/state.h"
#include "core/machine/memory.h"
#include "core/passes/pipeline.h"
#include "core/summary/plan_config.h"

namespace stormcell {

std::shared_ptr<const RunSummaryFigures> Experiment::optimize(const OptimizeOptions& optimize, const Progress& progress) {
  State& s = *state_;
  auto result = std::make_shared<RunSummaryFigures>();
  RunSummaryFigures& r = *result;
  r.verb = "optimize";
  r.model = s.model_figures();
  r.dataset = s.dataset_figures();
  r.settings = s.settings_json();
  r.warnings = s.warnings();
  const std::vector<ChosenPass> chosen =
      select_passes({optimize.passes.enable, optimize.passes.disable, optimize.passes.only, optimize.passes.options});

  // 1. Profile the baseline over all batches.
  std::unique_ptr<ReadyPlan> baseline = s.make_plan("baseline", s.graph, 0, progress);
  r.load_seconds = s.store->load_seconds();
  RoutingTotals totals;
  double profile_ms = 0;
  {
    SessionRun session(optimize.session, s, *baseline, "profile", true);
    for (int64_t b = 0; b < s.data->batch_count(); ++b) {
      progress.report("profiling", b, s.data->batch_count());
      const Batch batch = s.data->batch(b);
      ExecuteOptions execute;
      execute.record = execute.events = true;
      s.run_batch(*baseline, batch, execute);
      profile_ms += baseline->result.milliseconds;
      s.add_routing(*baseline, batch, totals);
      session.add(batch);
    }
    session.finish("");
  }
  r.routing = totals.routers;
  const LoadProfile profile = s.load_profile(totals, s.data->batch_count());

  // 2. Passes, each on its own and one after another.
  Bindings typical = bindings_of(*s.graph, s.data->batch(s.data->batch_count() / 2), 0);
  std::vector<std::unique_ptr<ReadyPlan>> alone, cumulative;
  PlanConfig config;
  config.model = r.model.name;
  config.fingerprint = r.model.fingerprint;
  config.device = s.options.device;
  config.dtype = std::string(to_text(s.dtype));
  std::vector<size_t> alone_of, cumulative_of;  // by report: index of its plan, SIZE_MAX where it changed nothing
  progress.report("passes", 0, static_cast<int64_t>(chosen.size()));
  const PipelineResult passed = run_passes({*s.graph, profile, s.machine_model(), typical, nullptr, {}, mask_facts(*s.graph, *s.data)},
                                           chosen, optimize.alone ? OnTheirOwn::yes : OnTheirOwn::no);
  for (const PassOutcome& outcome : passed.outcomes) {
    const PassReport& report = r.passes.emplace_back(report_of(outcome));
    progress.report("passes", static_cast<int64_t>(r.passes.size()), static_cast<int64_t>(chosen.size()));
    const auto plan_of = [&](const PassResult& result, std::vector<std::unique_ptr<ReadyPlan>>& plans, const std::string& name) {
      if (!result.applied) return SIZE_MAX;
      plans.push_back(s.make_plan(name, std::make_shared<Graph>(result.graph), 0, progress));
      return plans.size() - 1;
    };
    alone_of.push_back(plan_of(outcome.alone, alone, report.name));
    cumulative_of.push_back(plan_of(outcome.cumulative, cumulative, "up to " + report.name));
    if (report.applied) config.passes.emplace_back(report.name, saved_parameters(outcome));
  }
  r.config = to_json(config);
  ReadyPlan& optimized = cumulative.empty() ? *baseline : *cumulative.back();

  // 3. Verify.
  const Verification verified = s.verify(optimized, baseline.get(), progress);
  r.verified = verified;
  std::fill(optimized.guard_hits.begin(), optimized.guard_hits.end(), 0);
  std::fill(optimized.guard_misses.begin(), optimized.guard_misses.end(), 0);

  // 4. Measure all plans alternately over the same batches.
  std::vector<Batch> batches;
  for (const int64_t b :
       measured_batches(s.data->batch_count(), profile_ms, 1 + cumulative.size() + alone.size(), kLeastRounds, optimize.measure_seconds))
    batches.push_back(s.data->batch(b));
  std::vector<ReadyPlan*> plans = {baseline.get()};
  for (const auto& p : cumulative) plans.push_back(p.get());
  for (const auto& p : alone) plans.push_back(p.get());
  std::vector<std::function<std::vector<double>()>> runs;
  for (ReadyPlan* plan : plans)
    runs.push_back([&s, plan, &batches, &progress] {
      std::vector<double> ms;
      for (const Batch& batch : batches) {
        progress.cancel.check();
        s.run_batch(*plan, batch, {});
        ms.push_back(plan->result.milliseconds);
      }
      return ms;
    });
  const Rounds rounds = alternate(runs, optimize.measure_seconds, kLeastRounds, progress);
  for (size_t i = 0; i < r.passes.size(); ++i) {
    PassReport& pass = r.passes[i];
    if (!verified.passed) continue;  // a run that fails is never reported as a speed-up
    if (alone_of[i] != SIZE_MAX) {
      const Ratio ratio = ratio_of_medians(rounds.total[0], rounds.total[1 + cumulative.size() + alone_of[i]]);
      pass.speedup_alone = ratio.value;
      pass.speedup_alone_ci95 = ratio.ci95;
    }
    if (cumulative_of[i] != SIZE_MAX) {
      const Ratio ratio = ratio_of_medians(rounds.total[0], rounds.total[1 + cumulative_of[i]]);
      pass.speedup_cumulative = ratio.value;
      pass.speedup_cumulative_ci95 = ratio.ci95;
    }
    for (size_t g = 0; g < optimized.guard_hits.size(); ++g)
      if (optimized.program->guards[g].pass == pass.name)
        pass.guard_hits += optimized.guard_hits[g], pass.fallbacks += optimized.guard_misses[g];
  }
  r.baseline = s.plan_figures(*baseline, batches, rounds.batches[0]);
  // Without a pass that applied there is no other plan, and nothing to compare.
  if (!cumulative.empty()) r.optimized = s.plan_figures(optimized, batches, rounds.batches[cumulative.size()]);
  if (verified.passed && !cumulative.empty()) {
    const Ratio ratio = ratio_of_medians(rounds.total[0], rounds.total[cumulative.size()]);
    r.speedup = ratio.value;
    r.speedup_ci95 = ratio.ci95;
  }

  // 5. Limits and time by operator. The machine may have changed since it was probed before: the larger ceilings count, so that no share is
  // made greater by a busy moment.
  r.peak_resident_bytes = peak_resident_memory();
  s.probe(1, progress);
  if (optimize.measure_seconds > 0) s.warn_of_noise(rounds.batches[0], batches.size(), r.warnings);
  r.baseline_operators = s.operator_times(*baseline, progress);
  if (r.optimized) r.optimized_operators = s.operator_times(optimized, progress);
  double limit = 0;
  for (const Batch& batch : batches) {
    ExecuteOptions execute;
    execute.record = true;
    s.run_batch(*baseline, batch, execute);
    limit += s.limit_milliseconds(*baseline, bindings_of(*baseline->graph, batch, 0), nullptr);
  }
  const auto share = [&](const std::vector<double>& ms) {
    double total = 0;
    for (const double m : ms) total += m;
    const double passes_over = static_cast<double>(ms.size()) / static_cast<double>(batches.size());
    return total > 0 ? limit * passes_over / total : 0;
  };
  r.baseline->limit_share = share(rounds.batches[0]);
  if (r.optimized) r.optimized->limit_share = share(rounds.batches[cumulative.size()]);
  r.device = s.device_figures();

  // 6. The optimised run with its summary is the session's newest.
  r.session = optimize.session;
  {
    SessionRun session(optimize.session, s, optimized, "optimize", true, r.config);
    if (session.open())
      for (int64_t b = 0; b < s.data->batch_count(); ++b) {
        progress.report("recording", b, s.data->batch_count());
        const Batch batch = s.data->batch(b);
        ExecuteOptions execute;
        execute.record = execute.events = true;
        s.run_batch(optimized, batch, execute);
        session.add(batch);
      }
    r.peak_resident_bytes = std::max(r.peak_resident_bytes, peak_resident_memory());
    // At the end: what a miss had to load counts as loaded.
    r.unloaded_weight_bytes = optimized.executor->unloaded_weight_bytes();
    State::warn_of_misses(optimized, r.warnings);
    r.session_run = session.finish(to_json(r));
  }
  return result;
}

}  // namespace stormcell
