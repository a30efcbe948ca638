// Opens the model, replays the configuration, times the plan.
#include "core/experiment/measure_afresh.h"

#include "core/base/error.h"
#include "core/bench/open_state.h"
#include "core/bench/workload.h"
#include "core/exits/exit_thresholds.h"
#include "core/measuring/fresh_measuring.h"
#include "core/measuring/measured_plans.h"

namespace stormcell {
namespace {

constexpr const char* kWhere = "the run to measure again";

void check_batches(const std::vector<int64_t>& batches, const Dataset& data) {
  for (const int64_t b : batches)
    if (b < 0 || b >= data.batch_count())
      bad_input(kWhere, "names batch " + std::to_string(b) + " of " + std::to_string(data.batch_count()),
                "start the run again");
}

std::unique_ptr<ReadyPlan> plan_of(Workload& work, const PlanConfig& config, const Progress& progress) {
  work.annotate({config.annotations, kWhere});
  PipelineResult replayed = replay_config(work.pass_input({}), config, kWhere);
  PassConfiguration taken;
  for (const PassOutcome& outcome : replayed.outcomes)
    if (outcome.cumulative.applied) taken.emplace(outcome.pass->id, saved_parameters(outcome));
  const auto graph = std::make_shared<const Graph>(std::move(replayed.graph));
  std::vector<std::string> warnings;
  work.check_fits(graph, taken, warnings);
  return work.make_plan(taken.empty() ? "baseline" : "optimized", graph, taken, progress);
}

FreshFigures measure(Workload& work, const FreshRequest& request, const PlanConfig& config, const Progress& progress) {
  ExperimentState& s = work.state();
  std::unique_ptr<ReadyPlan> baseline;
  if (request.beside_baseline) baseline = work.make_baseline(progress);
  const std::unique_ptr<ReadyPlan> plan = plan_of(work, config, progress);
  MeasuredPlans plans(s, baseline ? std::vector{baseline.get(), plan.get()} : std::vector{plan.get()}, progress);
  check_batches(request.batches, *s.data);
  MirroredJob job = plans.job(request.batches, request.seconds);
  job.least_chains = kLeastFreshChains;
  plans.warm_up(job.batches.front());
  // The slots of a budget are still empty, and the first plan would pay for filling them. So every batch first runs
  // once untimed. The order is then that of the run itself.
  if (s.store->budget() > 0)
    for (const int64_t batch : job.batches) job.run_untimed(0, batch);
  if (s.store->budget() > 0 && baseline) set_order(job, plan->result.milliseconds, s.budget.settling_batches());
  if (s.store->budget() > 0 && !baseline) job.stretch = 1, job.lead = s.budget.settling_batches();
  const MirroredTimes times = measure_mirrored(job, progress);
  if (!baseline) return {{}, {}, times.baseline_latency()};
  if (!tells_speed(times)) failed(kWhere, why_not_stated("a speed-up", times));
  const Ratio speedup = times.speedup(0);
  return {Measurement{speedup.value, speedup.ci95}, times.baseline_latency(0), times.plan_latency(0)};
}

}  // namespace

std::string measure_afresh(const std::string& text, const Progress& progress) {
  const FreshRequest request = parse_fresh_request(text, kWhere);
  const std::optional<ExperimentOptions> options = parse_settings(request.settings);
  if (!options) bad_input(kWhere, "has no settings", "optimize and run write it for themselves");
  const std::unique_ptr<ExperimentState> state = open_state(*options, progress);
  state->ceilings.begin_call();
  const PlanConfig config = parse_plan_config(request.config, kWhere);
  check_model_of(config, *state->model, kWhere);
  check_thresholds(*state, config.exits, kWhere);
  return to_json(measure(*workloads(*state, config.exits, config.intervention).front(), request, config, progress));
}

}  // namespace stormcell
