#include "core/experiment/experiment.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/experiment/outputs.h"
#include "core/experiment/plan_config.h"
#include "core/experiment/recording.h"
#include "core/experiment/state.h"
#include "core/formats/tokenizer.h"
#include "core/passes/pipeline.h"

namespace stormcell {
namespace {
constexpr int kLeastRounds = 7;  // below, an interval over rounds says little

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
}  // namespace

Experiment::Experiment(std::unique_ptr<State> state) : state_(std::move(state)) {}
Experiment::~Experiment() = default;
const ExperimentOptions& Experiment::options() const { return state_->options; }

std::unique_ptr<Experiment> Experiment::open(const ExperimentOptions& options, const Progress& progress) {
  may_block("Experiment::open");
  auto state = std::make_unique<State>();
  State& s = *state;
  s.options = options;
  if (options.device != "cpu") {
    if (options.device.starts_with("cuda")) bad_input("--device", "cuda is not in this version", "use --device cpu");
    bad_input("--device", "unknown device \"" + options.device + "\"", "use --device cpu");
  }
  const std::optional<DType> asked = parse_dtype(options.dtype);
  if (!options.dtype.empty() && (!asked || (*asked != DType::f32 && *asked != DType::bf16)))
    bad_input("--dtype", "\"" + options.dtype + "\" is not in this version", "use f32 or bf16");

  progress.report("opening the model", 0, 0);
  ModelOptions model;
  model.allow_nonfinite = options.allow_nonfinite;
  model.seed = options.seed;
  model.progress = progress;
  s.model = open_model(options.model, model);

  progress.report("opening the data", 0, 0);
  DataOptions data;
  data.batch = options.batch;
  data.batches = options.batches;
  data.length = options.length;
  data.max_length = s.model->max_length;
  data.truncate = options.truncate;
  data.field = options.field;
  data.target_field = options.target_field;
  data.label_field = options.label_field;
  data.seed = options.seed;
  data.vocabulary = s.model->vocabulary;
  data.needs_decoder = s.model->has_encoder && s.model->has_decoder;
  data.pad_id = s.model->tokens.pad;
  data.end_id = s.model->tokens.end;
  data.decoder_start_id = s.model->tokens.decoder_start;
  data.resources = resources_folder();
  s.data = Dataset::open(options.data, s.model->tokenizer, data);

  const int cores = available_cores(), threads = options.threads > 0 ? options.threads : cores;
  if (options.threads < 0 || options.threads > 1024) bad_input("--threads", std::to_string(options.threads) + " threads", "use 1 to 1024");
  s.device = std::make_unique<cpu::CpuDevice>(threads);
  s.graph = s.model->forward;
  s.weights = s.model->weights;
  s.dtype = s.model->dtype;
  if (asked && *asked != s.model->dtype) {
    ConvertedModel converted = convert_weights(s.graph, s.weights, *asked);
    s.graph = converted.graph;
    s.weights = converted.weights;
    s.dtype = *asked;
  }
  s.tolerance = s.dtype == DType::bf16 ? 2e-2 : 1e-4;
  s.check_memory(*s.graph, bounds_of(*s.graph, *s.data, 0), options.model);
  s.store = std::make_unique<WeightStore>(*s.device, s.weights);
  s.probe(0, progress);
  return std::unique_ptr<Experiment>(new Experiment(std::move(state)));
}

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
    if (!wanted.fingerprint.empty() && wanted.fingerprint != r.model.fingerprint)
      r.warnings.push_back("the configuration was made for another model (" + wanted.model + "): only what fits is taken over");
    PipelineResult replayed =
        replay_passes({*graph, {}, s.machine_model(), bounds_of(*graph, *s.data, 0)}, {wanted.passes.begin(), wanted.passes.end()});
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
      if (pass.name == "dead-path")
        for (size_t g = 0; g < plan->guard_hits.size(); ++g)
          pass.guard_hits += plan->guard_hits[g], pass.fallbacks += plan->guard_misses[g];
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
  const PipelineResult passed =
      run_passes({*s.graph, profile, s.machine_model(), typical}, chosen, optimize.alone ? OnTheirOwn::yes : OnTheirOwn::no);
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
    if (pass.name == "dead-path" && pass.applied)
      for (size_t g = 0; g < optimized.guard_hits.size(); ++g)
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
