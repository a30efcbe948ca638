#include "core/bench/state.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/base/numbers.h"
#include "core/bench/converted_graph.h"
#include "core/bench/memory_check.h"
#include "core/cost/graph_cost.h"
#include "core/runtime/lower.h"

namespace stormcell {

void ExperimentState::probe(ProbeTime time, const Progress& progress) {
  constexpr double kBrief = 0.1;
  if (time == ProbeTime::whole) progress.report("probing the machine", 0, 0);
  ceilings.probe(*device, options.probe_seconds * (time == ProbeTime::brief ? kBrief : 1), progress.cancel);
}

std::shared_ptr<const Graph> ExperimentState::graph_for(PictureSize size) const {
  if (size == picture) return graph;
  return graphs_.at(size, [this](PictureSize of) { return prepared(model->forward_for(of)); });
}

std::shared_ptr<const Graph> ExperimentState::prepared(std::shared_ptr<const Graph> g) const {
  if (dtype != model->dtype) g = in_format(*g, dtype);
  return annotated(std::move(g), {options.annotations, "--annotate"});
}

PhaseGraphs ExperimentState::phase_graphs() const {
  return {prepared(model->forward), model->generates ? prepared(model->generate()) : nullptr};
}

PassInput ExperimentState::pass_input(const Graph& g, const LoadProfile& profile) const {
  return {g, profile, nullptr, {}, mask_facts(g, *data), bf16_rows ? &*bf16_rows : nullptr, {}, operators};
}
PassInput ExperimentState::pass_input(const Graph& g) const {
  static const LoadProfile none;
  return pass_input(g, none);
}

Arithmetic ExperimentState::arithmetic() const {
  return format_of(dtype).own_products && device->info().rounds_bf16_inputs ? Arithmetic::rounds_to_bf16
                                                                            : Arithmetic::f32;
}

namespace {
/// The need for the memory that plans lie in.
int64_t of_plans(const MemoryNeed& need, const MemoryRoom& room) { return room.device ? need.device : need.shared; }
}  // namespace

void ExperimentState::check_fits(const GraphOfSize& graphs, const MemoryRoom& available,
                                 std::vector<std::string>& warnings, int64_t new_tokens) {
  const MemoryRoom room = available.with_more(memory->bytes());  // held from earlier runs, and used again
  // Looks at as many sizes as are held at once: those whose batches are largest.
  std::vector<SizeCount> sizes = data->sizes();
  if (sizes.empty()) sizes.emplace_back();
  std::stable_sort(sizes.begin(), sizes.end(), [](const SizeCount& a, const SizeCount& b) {
    return a.largest_batch * a.size.pixels() > b.largest_batch * b.size.pixels();
  });
  sizes.resize(std::min(sizes.size(), BySize<CompiledPlan>::kMost));
  std::vector<PlannedGraph> planned;
  for (const SizeCount& s : sizes) {
    const std::shared_ptr<const Graph> g = graphs(s.size);
    planned.push_back({g, {bounds_of(*g, *data, new_tokens, s.size), keeps_scores()}});
    planned.back().options.rows = rows_;
  }
  if (const SentRows fitting = check_memory(*device, *store, planned, room, options.model); fitting != rows_) {
    rows_ = fitting;
    const int64_t lent = of_plans(memory_need(*device, *store, planned), room);
    for (PlannedGraph& p : planned) p.options.rows = rows_;
    warnings.push_back("memory is short: rows that branches could read in place are copied, which takes " +
                       to_text(Bytes(lent - of_plans(memory_need(*device, *store, planned), room))) +
                       " less, and more time");
  }
  if (const MemoryNeed all = memory_need(*device, *store, planned, FallbackWeights::loaded); !room.holds(all))
    warnings.push_back(
        "what the plan leaves out does not fit into memory beside it: a guard that misses would load up to " +
        to_text(Bytes(of_plans(all, room) - of_plans(memory_need(*device, *store, planned), room))) + " more, " +
        to_text(Bytes(room.device.value_or(room.host))) + " are available in all");
}

CompiledPlan ExperimentState::lowered(std::shared_ptr<const Graph> g, const Bindings& bounds) const {
  const auto program = std::make_shared<const Program>(lower(g));
  const auto records = std::make_shared<RecordPlan>(record_plan(*program));
  // The cost of one execution on the largest batch, all branches alike.
  const GraphCost cost = cost_of(*g, {bounds, {}, {}, 1});
  std::map<NodeId, const NodeCost*> cost_of_node;
  for (const NodeCost& n : cost.nodes) cost_of_node[n.node] = &n;
  for (size_t i = 0; i < program->steps.size(); ++i)
    if (const auto at = cost_of_node.find(program->steps[i].node); at != cost_of_node.end() && at->second->times > 0) {
      records->layout.steps[i].flops = at->second->cost.flops / at->second->times;
      records->layout.steps[i].bytes = at->second->cost.bytes() / at->second->times;
    }
  return {std::move(g), program, records, nullptr};
}

std::unique_ptr<ReadyPlan> ExperimentState::make_plan(const std::string& name, GraphOfSize graphs, int64_t new_tokens,
                                                      const Progress& progress, KeepScores scores, HostTurns turns) {
  const auto lower_for = [this, new_tokens, graphs = std::move(graphs)](PictureSize size) {
    const std::shared_ptr<const Graph> g = graphs(size);
    return lowered(g, bounds_of(*g, *data, new_tokens, size));
  };
  const bool keeps = keeps_scores() || scores == KeepScores::yes;
  const auto compile = [this, new_tokens, name, progress, keeps, turns](CompiledPlan& plan, PictureSize size) {
    CompileOptions options_of_plan{bounds_of(*plan.graph, *data, new_tokens, size),
                                   keeps,
                                   memory,
                                   states,
                                   nullptr,
                                   rows_,
                                   turns == HostTurns::each};
    options_of_plan.rows =
        check_further_plan(*device, *store, plan.program, options_of_plan, memory_room(*device), name, options.model);
    plan.executor = std::make_shared<Executor>(*device, *store, plan.program, options_of_plan, progress);
  };
  auto plan = std::make_unique<ReadyPlan>(name, *store, lower_for, compile, picture);
  plan->new_tokens = new_tokens, plan->sink = progress.sink;
  return plan;
}

std::unique_ptr<ReadyPlan> ExperimentState::make_plan(const std::string& name, std::shared_ptr<const Graph> g,
                                                      int64_t new_tokens, const Progress& progress) {
  const auto one_size = [this, name, g](PictureSize size) {
    if (size != picture)
      failed("plan \"" + name + "\"", "is made for pictures of " + to_text(picture) + " only, got " + to_text(size));
    return g;
  };
  return make_plan(name, GraphOfSize(one_size), new_tokens, progress);
}

void ExperimentState::run_batch(ReadyPlan& plan, const Batch& batch, const ExecuteOptions& options_of_run) {
  plan.run(batch, options_of_run);
  budget.add_execution();
  if (plan.sink && store->budget() > 0) plan.sink->remark(budget.so_far());
}

}  // namespace stormcell
