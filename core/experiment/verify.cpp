// Design 5.1 and 5.2: the oracle on the first batches, decisions replayed and free; the rest against the baseline.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/experiment/observe.h"
#include "core/experiment/profile_split.h"
#include "core/experiment/state.h"

namespace stormcell {
namespace {

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// By output: which cells count; those of all outputs that do not say it count all.
std::map<std::string, std::vector<int32_t>> real_cells(const Graph& graph, const Batch& batch) {
  std::map<std::string, std::vector<int32_t>> real;
  for (const NamedValue& o : graph.outputs) {
    if (o.real == kNone) continue;
    real[o.name] = mask_over(graph, graph.value(o.real).type.space, batch, bindings_of(graph, batch, 0));
  }
  return real;
}

/// Whose cells they are, by the batches' items.
void name_cells(ReadyPlan& plan, const Dataset& data, std::vector<Flip>& flips) {
  Batch batch;
  for (Flip& flip : flips) {
    if (batch.index != flip.batch || batch.items.empty()) batch = data.batch(flip.batch);
    plan.use(batch.picture);
    const Program& program = *plan.program;
    const auto router =
        std::find_if(program.routers.begin(), program.routers.end(), [&](const ProgramRouter& r) { return r.name == flip.router; });
    if (router == program.routers.end()) continue;
    const int64_t cells = program.graph->space(router->dense_space).count.evaluate(bindings_of(*program.graph, batch, 0));
    const int64_t per_item = cells / std::max<int64_t>(batch.size(), 1);
    if (per_item < 1 || flip.cell < 0 || flip.cell >= cells) continue;
    flip.item = batch.items[static_cast<size_t>(flip.cell / per_item)];
    flip.position = flip.cell % per_item;
  }
}

/// A plan under judgement: how it runs, what is known of it so far.
struct JudgedPlan {
  JudgedPlan(Experiment::State& state, ReadyPlan& plan) : state(state), plan(plan), judge(state.tolerance, state.arithmetic()) {}
  Experiment::State& state;
  ReadyPlan& plan;
  Judge judge;

  Observed run(const Batch& batch, const Observed* replay) {
    Observed came = observe(state, plan, batch, replay);
    came.real = real_cells(*plan.graph, batch);
    came.items = batch.size();
    came.by_item = state.reach_for(batch.picture).by_item;
    return came;
  }
  /// `decisions` of the reference without those that the plan does not make: one that leaves padding out has decided nothing there. They
  /// lie in `some` where that is so.
  const std::vector<JudgedDecision>& expected(const Batch& batch, const std::vector<JudgedDecision>& decisions,
                                              std::vector<JudgedDecision>& some) {
    plan.use(batch.picture);
    const std::map<std::string, std::vector<int32_t>> computed = computed_cells(*plan.graph, *state.graph_for(batch.picture), batch);
    if (computed.empty()) return decisions;
    return some = only_computed(decisions, computed);
  }
  /// One batch beside the oracle: replaying its decisions, and freely.
  void compare_with_oracle(int64_t number, const Batch& batch, const Observed& reference) {
    Observed replayed = run(batch, &reference);
    judge.add_replayed(reference, std::exchange(replayed.outputs, {}));
    const Observed free = run(batch, nullptr);
    std::vector<JudgedDecision> some;
    judge.add_free(number, reference, expected(batch, reference.decisions, some), replayed.decisions, &free);
  }
  /// One batch beside the baseline: as it is measured, freely. Where it decides as the baseline did, that is a replay; else it replays too.
  void compare_with_baseline(int64_t number, const Batch& batch, Observed reference) {
    std::vector<JudgedDecision> some;
    if (&expected(batch, reference.decisions, some) == &some) reference.decisions = std::move(some);
    Observed free = run(batch, nullptr);
    if (!decided_alike(reference.decisions, free.decisions)) {
      judge.add(number, reference, run(batch, &reference), &free);
      return;
    }
    for (JudgedDecision& d : free.decisions) d.free_choice = d.choice;
    judge.add(number, reference, free, &free);
  }
};

/// The two questions about a format (design 5.1): is it executed rightly, and what does it cost?
class References {
 public:
  References(const Experiment::State& s, const Progress& progress) : state_(s), progress_(progress) {}

  /// By an oracle that holds the weights in the format that runs, and rounds inputs of products where the device does.
  Observed running(const Batch& batch) {
    return run(*of_size(batch.picture).running, batch, state_.arithmetic() == Arithmetic::rounds_to_bf16);
  }
  /// By one that holds them as they are stored.
  Observed stored(const Batch& batch) { return run(*of_size(batch.picture).stored, batch, false); }

  bool converts() const { return state_.dtype != state_.model->dtype; }
  /// Of two references only then: f32 holds every number that a model may store.
  bool differ() const { return converts() && state_.dtype != DType::f32; }

 private:
  /// For pictures of one size: the graphs in both formats.
  struct OfSize {
    std::shared_ptr<const Graph> running, stored;
  };
  const OfSize& of_size(PictureSize size) {
    return of_size_.at(size, [this](PictureSize of) {
      const std::shared_ptr<const Graph> running = state_.graph_for(of);
      return OfSize{running, converts() ? state_.model->forward_for(of) : running};
    });
  }
  Observed run(const Graph& graph, const Batch& batch, bool round_inputs) const {
    OracleOptions options;
    options.threads = state_.device->info().threads;
    options.cancel = progress_.cancel;
    options.keep_scores = true;
    options.round_inputs = round_inputs;
    const Bindings bindings = bindings_of(graph, batch, 0);
    const Oracle<float> oracle(graph, *state_.model->weights);
    Observed came = observed(graph, bindings, oracle.run(oracle_inputs(graph, batch), bindings, options), state_.reach_for(batch.picture));
    came.real = real_cells(graph, batch);
    came.items = batch.size();
    return came;
  }
  const Experiment::State& state_;
  const Progress& progress_;
  BySize<OfSize> of_size_;
};

/// What the format costs: the plan beside the oracle on the stored weights, with its decisions replayed and freely.
struct FormatJudge {
  OutputJudge replayed, free;
  ChoiceCount choices;

  void add(JudgedPlan& plan, const Batch& batch, const Observed& stored) {
    replayed.add(plan.run(batch, &stored).outputs, stored.outputs, stored.real, stored.items);
    const Observed ran = plan.run(batch, nullptr);
    free.add(ran.outputs, stored.outputs, stored.real, stored.items);
    std::vector<JudgedDecision> some;
    const ChoiceCount count = count_choices(plan.expected(batch, stored.decisions, some), ran.decisions);
    choices.choices += count.choices, choices.elsewhere += count.elsewhere;
  }
  FormatCost cost(const Experiment::State& s) const {
    FormatCost cost;
    cost.dtype = std::string(to_text(s.dtype));
    cost.outputs = replayed.differences();
    const std::vector<OutputDifference> freely = free.differences();
    for (size_t i = 0; i < cost.outputs.size(); ++i) cost.outputs[i].free_max_rel_diff = freely[i].max_rel_diff;
    cost.max_rel_diff = largest(cost.outputs);
    cost.free_max_rel_diff = largest(freely);
    cost.choices = choices.choices, cost.differing_choices = choices.elsewhere;
    cost.tolerance = s.format_tolerance();
    cost.passed = cost.max_rel_diff <= cost.tolerance;
    return cost;
  }
};

/// Which batches are compared, in this order: one of each size of picture, whatever time it takes, then the others in the data's order.
struct ComparisonOrder {
  explicit ComparisonOrder(const Dataset& data) {
    std::vector<int64_t> all(static_cast<size_t>(data.batch_count()));
    std::iota(all.begin(), all.end(), 0);
    batches = one_of_each_size(data, all);
    at_least = batches.size();
    std::stable_partition(all.begin(), all.end(), [&](int64_t b) { return std::binary_search(batches.begin(), batches.end(), b); });
    batches.insert(batches.end(), all.begin() + static_cast<int64_t>(at_least), all.end());
  }
  std::vector<int64_t> batches;
  size_t at_least = 0;
};

/// Until the time is up: all plans beside the same reference, and for `format` the first beside the stored weights. Returns how many.
size_t verify_with_oracle(References& references, std::vector<JudgedPlan>& plans, FormatJudge& format, const ComparisonOrder& order,
                          double until, const Progress& progress) {
  const Experiment::State& s = plans[0].state;
  size_t checked = 0;
  for (; checked < order.batches.size() && (checked < order.at_least || seconds_now() < until); ++checked) {
    progress.report("verifying against the oracle", static_cast<int64_t>(checked), static_cast<int64_t>(order.batches.size()));
    const Batch batch = s.data->batch(order.batches[checked]);
    Observed reference = references.running(batch);
    for (JudgedPlan& plan : plans) plan.compare_with_oracle(batch.index, batch, reference);
    if (!references.converts()) continue;
    if (references.differ()) {
      reference = {};  // before the next one is made
      reference = references.stored(batch);
    }
    format.add(plans[0], batch, reference);
  }
  return checked;
}

/// The batches from the first that no oracle has run compare `plan` with the baseline. Returns how many.
size_t verify_with_baseline(JudgedPlan& plan, JudgedPlan& baseline, const ComparisonOrder& order, size_t first, double until,
                            const Progress& progress) {
  size_t i = first;
  for (; i < order.batches.size() && seconds_now() < until; ++i) {
    progress.report("verifying against the baseline", static_cast<int64_t>(i), static_cast<int64_t>(order.batches.size()));
    const Batch batch = plan.state.data->batch(order.batches[i]);
    plan.compare_with_baseline(batch.index, batch, baseline.run(batch, nullptr));
  }
  return i - first;
}

}  // namespace

Arithmetic Experiment::State::arithmetic() const {
  return dtype == DType::bf16 && device->info().rounds_bf16_inputs ? Arithmetic::rounds_to_bf16 : Arithmetic::f32;
}

double Experiment::State::format_tolerance() const {
  if (options.tolerance) return *options.tolerance;
  return dtype == DType::bf16 ? 5e-2 : 1e-4;
}

std::vector<std::string> Experiment::State::differences_from(ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& plans,
                                                             int64_t number) {
  std::vector<std::string> differences;
  const Batch batch = data->batch(number);
  const Observed reference = JudgedPlan(*this, baseline).run(batch, nullptr);
  for (const std::unique_ptr<ReadyPlan>& plan : plans) {
    JudgedPlan judged(*this, *plan);
    judged.compare_with_baseline(number, batch, reference);
    const std::vector<std::string> reasons = judged.judge.verdict().reasons;
    differences.push_back(reasons.empty() ? std::string() : reasons.front());
  }
  return differences;
}

Verification Experiment::State::verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress) {
  const double begin = seconds_now();
  References references(*this, progress);
  std::vector<JudgedPlan> plans;
  plans.emplace_back(*this, plan);
  if (baseline && baseline != &plan) plans.emplace_back(*this, *baseline);
  FormatJudge format;
  const ComparisonOrder order(*data);
  const size_t checked = verify_with_oracle(references, plans, format, order, begin + options.verify_seconds, progress);
  size_t more = 0;
  if (plans.size() > 1) more = verify_with_baseline(plans[0], plans[1], order, checked, begin + 2 * options.verify_seconds, progress);

  Verification v = plans[0].judge.verdict();
  if (plans.size() > 1)
    for (const std::string& reason : plans[1].judge.verdict().reasons) v.reasons.push_back("the baseline: " + reason);
  if (references.converts()) {
    v.format = format.cost(*this);
    if (!v.format->passed) {
      char text[128];
      std::snprintf(text, sizeof text, " changes the outputs by %.2g of their largest value; the tolerance is %.2g", v.format->max_rel_diff,
                    v.format->tolerance);
      v.reasons.push_back(v.format->dtype + text);
    }
  }
  name_cells(plan, *data, v.listed);
  v.passed = v.reasons.empty();
  v.batches = static_cast<int64_t>(checked);
  v.baseline_batches = static_cast<int64_t>(more);
  v.text = std::to_string(checked) + " of " + std::to_string(data->batch_count()) + " batches against the oracle";
  if (data->sizes().size() > 1) v.text += ", at least one of each of the " + std::to_string(data->sizes().size()) + " sizes";
  if (more > 0) v.text += ", " + std::to_string(more) + " more against the baseline";
  v.seconds = seconds_now() - begin;
  return v;
}

}  // namespace stormcell
