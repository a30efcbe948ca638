// Design 5.1 and 5.2: the oracle on the first batches, decisions replayed and free; the rest against the baseline.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "core/base/error.h"
#include "core/experiment/state.h"

namespace stormcell {
namespace {

constexpr size_t kListedFlips = 100;
constexpr double kMarginFactor = 8;  // design 5.2

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Difference {
  double most = 0, scale = 0;
  /// `real`: by cell, which count; empty: all.
  void add(const std::vector<float>& ours, const std::vector<float>& reference, std::span<const int32_t> real) {
    const size_t width = real.empty() ? 1 : reference.size() / real.size();
    for (size_t i = 0; i < reference.size(); ++i) {
      if (!real.empty() && real[i / width] == 0) continue;
      const double d = std::fabs(static_cast<double>(ours[i]) - reference[i]);
      most = std::isnan(d) ? INFINITY : std::max(most, d);
      scale = std::max(scale, std::fabs(static_cast<double>(reference[i])));
    }
  }
  double relative() const { return scale > 0 ? most / scale : most; }
};

/// Which cells of an output count.
std::span<const int32_t> real_cells(const Graph& graph, const std::string& output, const Batch& batch) {
  for (const NamedValue& o : graph.outputs)
    if (o.name == output && o.real != kNone) return values_of(batch, graph.value(o.real).name);
  return {};
}

OracleInputs<float> oracle_inputs(const InputValues& inputs, const Graph& graph) {
  OracleInputs<float> list;
  for (const Value& v : graph.values)
    if (v.kind == ValueKind::input) {
      const auto at = inputs.integers.find(v.name);
      if (at != inputs.integers.end()) list[v.name].integers = at->second;
    }
  return list;
}

}  // namespace

Verification Experiment::State::verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress) {
  Verification v;
  v.tolerance = tolerance;
  const double begin = seconds_now();
  // The oracle reads the weights as they are stored, whatever format the plan runs in.
  const Oracle<float> oracle(*model->forward, *model->weights);
  Difference replayed, free_running;
  const int64_t batches = data->batch_count();
  int64_t checked = 0;
  for (; checked < batches && (checked == 0 || seconds_now() - begin < options.verify_seconds); ++checked) {
    progress.report("verifying against the oracle", checked, batches);
    const Batch batch = data->batch(checked);
    const InputValues inputs = inputs_of(batch);
    OracleOptions oracle_options;
    oracle_options.threads = device->info().threads;
    oracle_options.cancel = progress.cancel;
    oracle_options.keep_scores = true;
    const OracleResult<float> reference =
        oracle.run(oracle_inputs(inputs, *model->forward), bindings_of(*model->forward, batch, 0), oracle_options);

    ExecuteOptions execute;
    execute.outputs = execute.record = true;
    run_batch(plan, batch, execute);
    // Flips: choices that differ from the reference's, explained where its margin is smaller than 8 score errors.
    for (const ExecutedDecision* standing : standing_decisions(*plan.program, plan.records.routers, plan.result)) {
      const ExecutedDecision& d = *standing;
      const std::string& name = plan.program->routers[static_cast<size_t>(d.router)].name;
      for (const OracleDecision& r : reference.decisions) {
        if (r.router != name || r.execution != d.turn) continue;
        double score_error = 0;
        const size_t n = std::min(d.choice.size(), r.choice.size());
        for (size_t c = 0; c < std::min(d.margin.size(), r.margin.size()); ++c)
          if (d.choice[c * static_cast<size_t>(d.shape.fan_out)] == r.choice[c * static_cast<size_t>(d.shape.fan_out)] &&
              std::isfinite(r.margin[c]))
            score_error = std::max(score_error, std::fabs(static_cast<double>(d.margin[c]) - r.margin[c]));
        for (size_t i = 0; i < n; ++i) {
          if (is_dropped(r.choice[i])) ++v.dropped;
          if (d.choice[i] == r.choice[i]) continue;
          Flip flip;
          flip.router = name;
          flip.batch = checked;
          flip.cell = static_cast<int64_t>(i) / d.shape.fan_out;
          flip.reference = r.choice[i];
          flip.ours = d.choice[i];
          flip.margin = r.margin[static_cast<size_t>(flip.cell)];
          flip.score_error = score_error;
          flip.explained = flip.margin < kMarginFactor * score_error;
          ++v.flips;
          v.explained_flips += flip.explained;
          if (v.listed.size() < kListedFlips) v.listed.push_back(flip);
        }
      }
    }
    for (const OutputValue& out : plan.result.outputs)
      if (out.dtype != DType::i32) free_running.add(out.reals, reference.output(out.name).reals, real_cells(*plan.graph, out.name, batch));

    // With the reference's decisions replayed the tolerance applies.
    ForcedDecisions forced(plan.program->routers.size());
    for (size_t r = 0; r < forced.size(); ++r)
      for (const OracleDecision& d : reference.decisions)
        if (d.router == plan.program->routers[r].name) forced[r].push_back({d.choice, d.ancestor});
    execute.forced = &forced;
    execute.record = false;
    run_batch(plan, batch, execute);
    for (const OutputValue& out : plan.result.outputs)
      if (out.dtype != DType::i32) replayed.add(out.reals, reference.output(out.name).reals, real_cells(*plan.graph, out.name, batch));
  }
  v.batches = checked;
  v.max_abs_diff = replayed.most;
  v.max_rel_diff = replayed.relative();
  v.free_max_rel_diff = free_running.relative();
  v.passed = v.max_rel_diff <= tolerance && v.flips == v.explained_flips;

  // The rest compares with the baseline, which the oracle has judged on the same kernels.
  if (baseline && baseline != &plan) {
    Difference rest;
    for (int64_t b = checked; b < batches && seconds_now() - begin < 2 * options.verify_seconds; ++b) {
      progress.report("verifying against the baseline", b, batches);
      const Batch batch = data->batch(b);
      ExecuteOptions execute;
      execute.outputs = execute.record = true;
      run_batch(*baseline, batch, execute);
      // The baseline's own decisions are replayed, so that near ties that fusion may flip are not counted as errors of values.
      ForcedDecisions forced(plan.program->routers.size());
      for (const ExecutedDecision* d : standing_decisions(*baseline->program, baseline->records.routers, baseline->result))
        for (size_t r = 0; r < forced.size(); ++r)
          if (plan.program->routers[r].name == baseline->program->routers[static_cast<size_t>(d->router)].name)
            forced[r].push_back({d->choice, d->ancestor});
      ExecuteOptions replay;
      replay.outputs = true;
      replay.forced = &forced;
      run_batch(plan, batch, replay);
      for (const OutputValue& out : plan.result.outputs)
        for (const OutputValue& base : baseline->result.outputs)
          if (out.name == base.name && out.dtype != DType::i32) rest.add(out.reals, base.reals, real_cells(*plan.graph, out.name, batch));
      ++v.baseline_batches;
    }
    v.max_abs_diff = std::max(v.max_abs_diff, rest.most);
    v.max_rel_diff = std::max(v.max_rel_diff, rest.relative());
    v.passed = v.passed && rest.relative() <= tolerance;
  }
  v.text = std::to_string(v.batches) + " of " + std::to_string(batches) + " batches against the oracle";
  if (v.baseline_batches > 0) v.text += ", " + std::to_string(v.baseline_batches) + " more against the baseline";
  v.seconds = seconds_now() - begin;
  return v;
}

}  // namespace stormcell
