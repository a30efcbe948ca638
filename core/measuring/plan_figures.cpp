#include "core/measuring/plan_figures.h"

#include <algorithm>
#include <map>

#include "core/cost/graph_cost.h"
#include "core/measuring/physical_limit.h"

namespace stormcell {
namespace {

/// A row of the times by operator that is no operator: the wait for weights under a budget.
constexpr const char* kWaiting = "waiting for weights";

/// Share of each batch among the given ones.
std::map<int64_t, double> shares_of(const std::vector<int64_t>& batches) {
  std::map<int64_t, double> shares;
  for (const int64_t b : batches) shares[b] += 1 / static_cast<double>(batches.size());
  return shares;
}

/// Physical limit of one batch in milliseconds, by operator, with the loads of `plan.result` recorded on it.
double limit_milliseconds(const ExperimentState& s, const ReadyPlan& plan, const Batch& batch,
                          std::map<std::string, OperatorTime>* by_operator) {
  const Graph& g = *plan.graph;
  const DeviceProbe& most = s.ceilings.largest();
  const MachineCeilings machine{most.f32_gflops * 1e9, most.bf16_gflops * 1e9, most.read_gbs * 1e9};
  double total = 0;
  for (const NodeCost& n : cost_of(g, executed_case(*plan.program, plan.result, plan.bindings(batch))).nodes) {
    const double ms = n.seconds(machine) * 1e3;
    total += ms;
    if (!by_operator) continue;
    OperatorTime& limit = (*by_operator)[std::string(g.node(n.node).op->name)];
    limit.limit_milliseconds += ms;
    limit.limit_compute_milliseconds += n.cost.flops / (n.is_bf16 ? machine.bf16_flops : machine.f32_flops) * 1e3;
  }
  return total;
}

/// Mean over `batches`, which may contain a batch more than once. Each is run again and recorded.
double mean_limit_milliseconds(ExperimentState& s, ReadyPlan& plan, const std::vector<int64_t>& batches,
                               const Progress& progress) {
  double limit = 0;
  for (const auto& [b, share] : shares_of(batches)) {
    progress.cancel.check();
    const Batch batch = s.data->batch(b, progress.cancel);
    ExecuteOptions execute;
    execute.record = true;
    s.run_batch(plan, batch, execute);
    limit += share * limit_milliseconds(s, plan, batch, nullptr);
  }
  return limit;
}

}  // namespace

PlanFigures plan_figures(const Workload& work, const ReadyPlan& plan, const Latency& latency, const TimedReads& read,
                         const std::vector<int64_t>& batches, int64_t rounds) {
  PlanFigures f;
  f.latency_ms = latency;
  double cells = 0;
  const std::map<int64_t, double> shares = shares_of(batches);
  for (const auto& [b, share] : shares) cells += share * static_cast<double>(work.cells(plan, b));
  work.set_rates(latency.mean > 0 ? cells / (latency.mean * 1e-3) : 0, f);
  f.batches = std::ssize(shares);
  f.rounds = rounds;
  f.peak_weight_bytes = plan.weight_bytes();
  f.peak_activation_bytes = plan.activation_bytes();
  if (plan.states.planned_bytes > 0) f.states = plan.states;
  f.weights_read = read.mean();
  return f;
}

std::vector<OperatorTime> operator_times(ExperimentState& s, ReadyPlan& plan, int64_t most, const Progress& progress) {
  std::map<std::string, OperatorTime> times;
  const int64_t batches = std::min<int64_t>(s.data->batch_count(), std::clamp<int64_t>(most, 1, 8));
  const double stalled = s.store->counters().stall_seconds;
  for (int64_t b = 0; b < batches; ++b) {
    progress.report("time by operator", b, batches);
    const Batch batch = s.data->batch(b, progress.cancel);
    ExecuteOptions execute;
    execute.events = true;
    execute.record = true;
    s.run_batch(plan, batch, execute);
    if (plan.result.waves > 0) times[kWaiting].steps += plan.result.waves;
    for (const DeviceEvent& e : plan.result.events) {
      const Node& node = plan.graph->node(plan.program->steps[e.step].node);
      OperatorTime& t = times[std::string(node.op->name)];
      ++t.steps;
      t.milliseconds += static_cast<double>(e.end_ns - e.begin_ns) * 1e-6 / static_cast<double>(batches);
    }
    std::map<std::string, OperatorTime> limits;
    limit_milliseconds(s, plan, batch, &limits);
    for (const auto& [op, limit] : limits) {
      times[op].limit_milliseconds += limit.limit_milliseconds / static_cast<double>(batches);
      times[op].limit_compute_milliseconds += limit.limit_compute_milliseconds / static_cast<double>(batches);
    }
  }
  // Events leave out what their steps waited for.
  if (const auto at = times.find(kWaiting); at != times.end())
    at->second.milliseconds = (s.store->counters().stall_seconds - stalled) * 1e3 / static_cast<double>(batches);
  std::vector<OperatorTime> list;
  for (auto& [op, t] : times) {
    t.op = op;
    t.batches = batches;
    if (t.steps > 0) list.push_back(t);
  }
  std::sort(list.begin(), list.end(),
            [](const OperatorTime& a, const OperatorTime& b) { return a.milliseconds > b.milliseconds; });
  return list;
}

void set_limit_share(PlanFigures& figures, ReadyPlan& plan, ExperimentState& state, const std::vector<int64_t>& batches,
                     const Progress& progress) {
  if (figures.latency_ms.mean > 0)
    figures.limit_share = mean_limit_milliseconds(state, plan, batches, progress) / figures.latency_ms.mean;
}

}  // namespace stormcell
