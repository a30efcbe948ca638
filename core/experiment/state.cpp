#include "core/experiment/state.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/thread_team.h"
#include "core/experiment/converted_weights.h"
#include "core/experiment/memory_check.h"
#include "core/experiment/physical_limit.h"
#include "core/experiment/plan_graphs.h"
#include "core/graph/roles.h"
#include "core/machine/memory.h"
#include "core/runtime/lower.h"
#include "core/summary/measured_text.h"

namespace stormcell {
namespace {

/// How often each batch is named, as a share of all.
std::map<int64_t, double> shares_of(const std::vector<int64_t>& batches) {
  std::map<int64_t, double> shares;
  for (const int64_t b : batches) shares[b] += 1 / static_cast<double>(batches.size());
  return shares;
}

}  // namespace

ModelFigures Experiment::State::model_figures() const {
  ModelFigures m;
  m.name = model->name;
  m.family = model->family;
  m.weights = std::string(to_text(model->origin));
  m.parameters = model->parameters;
  m.weight_bytes = model->weight_bytes;
  m.fingerprint = model->fingerprint;
  m.weights_stated = model->origin_stated;
  model->forward->for_each_node([&](NodeId id, int) {
    const Node& n = model->forward->node(id);
    if (!is_route(n)) return;
    ++m.routers;
    m.branches += model->forward->value(n.outputs[0]).branches;
  });
  return m;
}

DatasetFigures Experiment::State::dataset_figures() const {
  DatasetFigures d;
  d.name = data->name();
  d.batches = data->batch_count();
  d.sequences = data->items();
  d.truncated = data->truncated();
  d.cells = data->cells().cells;
  d.cells_without_padding = data->cells().real;
  d.by_length = options.bucket_by_length;
  d.cells_as_given = data->cells().as_given;
  d.cells_by_length = data->cells().by_length;
  for (const SizeCount& s : data->sizes()) d.sizes.push_back({s.size.height, s.size.width, s.items, s.batches});
  const bool of_tokens = std::any_of(data->spaces().begin(), data->spaces().end(), [](const SpaceCells& s) { return s.holds_tokens; });
  d.unit = of_tokens ? "token" : d.sizes.empty() ? "item" : "picture";
  return d;
}

DeviceFigures Experiment::State::device_figures() const {
  DeviceFigures d;
  const DeviceInfo info = device->info();
  d.name = info.name;
  d.backend = info.backend;
  d.threads = info.threads;
  d.core_placement = ceilings.placement;
  d.isa = ceilings.kernels;
  d.peak_gflops = dtype == DType::bf16 ? ceilings.bf16_gflops : ceilings.f32_gflops;
  d.peak_bf16_gflops = ceilings.bf16_gflops;
  d.read_gbps = ceilings.read_gbs;
  for (size_t i = 0; i < readings.size(); ++i) {
    d.peak_readings[i] = dtype == DType::bf16 ? readings[i].bf16_gflops : readings[i].f32_gflops;
    d.read_readings[i] = readings[i].read_gbs;
  }
  return d;
}

std::vector<std::string> Experiment::State::warnings() const {
  std::vector<std::string> list = model->warnings;
  for (std::string& warning : data->warnings()) list.push_back(std::move(warning));
  if (const int threads = device->info().threads, cores = available_cores(); threads > cores)
    list.push_back("--threads " + std::to_string(threads) + " is more than the " + std::to_string(cores) +
                   " cores this process may use: they take turns, and every step waits for the last");
  if (options.record_inputs && !data->sizes().empty())
    list.emplace_back("--record-inputs has no effect on pictures: a session stores none");
  if (options.tolerance && dtype == model->dtype)
    list.emplace_back(
        "--tolerance has no effect: it limits what a conversion by --dtype may change, and the weights run as they are stored");
  return list;
}

void Experiment::State::probe(size_t reading, const Progress& progress) {
  progress.report("probing the machine", 0, 0);
  // Beside a model that fills the memory, a smaller buffer; what it then reads from a cache is no ceiling of memory and is not taken.
  constexpr int64_t kMost = int64_t{512} << 20, kLeast = int64_t{128} << 20;
  const int64_t room = available_memory() / 2;
  DeviceProbe& now = readings[reading];
  now = device->probe(std::clamp<int64_t>(room, int64_t{16} << 20, kMost), progress.cancel);
  progress.cancel.check();
  if (reading > 0 && room < kLeast) now.read_gbs = ceilings.read_gbs;
  DeviceProbe larger = now;
  larger.f32_gflops = std::max(ceilings.f32_gflops, now.f32_gflops);
  larger.bf16_gflops = std::max(ceilings.bf16_gflops, now.bf16_gflops);
  larger.read_gbs = std::max(ceilings.read_gbs, now.read_gbs);
  ceilings = larger;
  reset_peak_resident_memory();
}

void Experiment::State::warn_of_noise(double spread, const OtherLoad& others, std::vector<std::string>& warnings) const {
  constexpr double kChanged = 1.15, kSpread = 2;
  const DeviceFigures d = device_figures();
  const auto compare = [&](const std::array<double, 2>& r, const char* unit) {
    if (r[0] <= 0 || r[1] <= 0 || std::max(r[0], r[1]) <= kChanged * std::min(r[0], r[1])) return;
    char text[160];
    std::snprintf(text, sizeof text, "the machine was busy: the ceilings changed from %.3g to %.3g %s while measuring", r[0], r[1], unit);
    warnings.emplace_back(text);
  };
  compare(d.peak_readings, "GFLOP/s");
  compare(d.read_readings, "GB/s");
  if (spread > kSpread) {
    char text[160];
    std::snprintf(text, sizeof text, "the machine was busy: of 20 executions of the same batch one took %.1f times the median or more",
                  spread);
    warnings.emplace_back(text);
  }
  if (std::string busy = others.warning(device->info().threads); !busy.empty()) warnings.push_back(std::move(busy));
}

void Experiment::State::warn_of_misses(const ReadyPlan& plan, std::vector<std::string>& warnings) {
  int64_t hits = 0, misses = 0;
  for (const auto& [pass, counts] : plan.guards) hits += counts.hits, misses += counts.misses;
  if (misses <= hits) return;
  warnings.push_back("the guards missed " + std::to_string(misses) + " of " + std::to_string(hits + misses) + " times, each counted " +
                     guards_counted(plan.new_tokens > 0 ? "decode" : "forward") +
                     ": this data uses branches the plan left out, and each miss runs the slower "
                     "fallback; run optimize on more "
                     "of such data, or --disable the pass that has guards");
}

std::string Experiment::State::settings_json(std::string_view phase) const {
  // As it ran, so that it can be repeated: the threads there were, and the format where it can be asked for.
  ExperimentOptions ran = options;
  ran.threads = device->info().threads;
  ran.phase = phase;
  if (dtype == DType::f32 || dtype == DType::bf16) ran.dtype = std::string(to_text(dtype));
  return stormcell::settings_json(ran);
}

std::shared_ptr<const Graph> Experiment::State::graph_for(PictureSize size) const {
  if (size == picture) return graph;
  return graphs_.at(size, [this](PictureSize of) { return prepared(model->forward_for(of)); });
}

std::shared_ptr<const Graph> Experiment::State::prepared(std::shared_ptr<const Graph> stored) const {
  if (dtype != model->dtype) stored = convert_weights(*stored, dtype);
  return annotated(std::move(stored), options.annotations, "--annotate");
}

void Experiment::State::check_annotations(const std::shared_ptr<const Graph>& g, const std::string& where, int64_t new_tokens) const {
  try {
    device->layout_of(std::make_shared<const Program>(lower(g)), *store, {bounds_of(*g, *data, new_tokens, picture)});
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_input) throw;
    bad_input(where, e.what());
  }
}

PassInput Experiment::State::pass_input(const Graph& g, const LoadProfile& profile) const {
  return {g, profile, nullptr, {}, mask_facts(g, *data), bf16_rows ? &*bf16_rows : nullptr};
}
PassInput Experiment::State::pass_input(const Graph& g) const {
  static const LoadProfile none;
  return pass_input(g, none);
}

const CellReach& Experiment::State::reach_for(PictureSize size) const {
  return reach_.at(size, [this](PictureSize of) { return cell_reach(*graph_for(of)); });
}

void Experiment::State::check_fits(const GraphOfSize& graphs, int64_t available, std::vector<std::string>& warnings,
                                   int64_t new_tokens) const {
  available += memory->bytes();  // held from earlier runs, and used again
  // As many sizes as are held at once: those whose batches are largest.
  std::vector<SizeCount> sizes = data->sizes();
  if (sizes.empty()) sizes.emplace_back();
  std::stable_sort(sizes.begin(), sizes.end(), [](const SizeCount& a, const SizeCount& b) {
    return a.largest_batch * a.size.pixels() > b.largest_batch * b.size.pixels();
  });
  sizes.resize(std::min(sizes.size(), BySize<CompiledPlan>::kMost));
  std::vector<PlannedGraph> planned;
  for (const SizeCount& s : sizes) {
    const std::shared_ptr<const Graph> g = graphs(s.size);
    planned.push_back({g, {bounds_of(*g, *data, new_tokens, s.size), options.record_scores}});
  }
  check_memory(*device, *store, planned, available, options.model);
  if (const int64_t all = memory_needed(*device, *store, planned, Fallbacks::loaded); all > available)
    warnings.push_back("what the plan leaves out does not fit into memory beside it: a guard that misses would load up to " +
                       to_text(Bytes(all - memory_needed(*device, *store, planned))) + " more, " + to_text(Bytes(available)) +
                       " are available in all");
}

CompiledPlan Experiment::State::lowered(std::shared_ptr<const Graph> g, const Bindings& bounds) const {
  const auto program = std::make_shared<const Program>(lower(g));
  const auto records = std::make_shared<RecordPlan>(record_plan(*program));
  // Of one execution on the largest batch, all branches alike.
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

std::unique_ptr<ReadyPlan> Experiment::State::make_plan(const std::string& name, GraphOfSize graphs, int64_t new_tokens,
                                                        const Progress& progress) {
  const auto lower_for = [this, new_tokens, graphs = std::move(graphs)](PictureSize size) {
    const std::shared_ptr<const Graph> g = graphs(size);
    return lowered(g, bounds_of(*g, *data, new_tokens, size));
  };
  const auto compile = [this, new_tokens, name, progress](CompiledPlan& plan, PictureSize size) {
    const CompileOptions options_of_plan{bounds_of(*plan.graph, *data, new_tokens, size), options.record_scores, memory, states};
    check_further_plan(*device, *store, plan.program, options_of_plan, available_memory(), name, options.model);
    plan.executor = std::make_shared<Executor>(*device, *store, plan.program, options_of_plan, progress);
  };
  auto plan = std::make_unique<ReadyPlan>(name, *store, lower_for, compile, picture);
  plan->new_tokens = new_tokens;
  return plan;
}

std::unique_ptr<ReadyPlan> Experiment::State::make_plan(const std::string& name, std::shared_ptr<const Graph> g, int64_t new_tokens,
                                                        const Progress& progress) {
  const auto one_size = [this, name, g](PictureSize size) {
    if (size != picture) failed("plan \"" + name + "\"", "is made for pictures of " + to_text(picture) + " only, got " + to_text(size));
    return g;
  };
  return make_plan(name, GraphOfSize(one_size), new_tokens, progress);
}

void Experiment::State::run_batch(ReadyPlan& plan, const Batch& batch, const ExecuteOptions& options) {
  ExecuteOptions execute = options;
  execute.outputs |= plan.new_tokens > 0;  // tokens are few, and reading them is not measured
  plan.use(batch.picture);
  plan.executor->run(inputs_of(batch), bindings_of(*plan.graph, batch, plan.new_tokens), execute, plan.result);
  budget.add_execution();
  for (const OutputValue& out : plan.result.outputs)
    if (plan.new_tokens > 0 && out.name == kGenerated) plan.decoded[batch.index] = out.integers;
  for (size_t i = 0; i < plan.program->guards.size(); ++i) {
    GuardCounts& counts = plan.guards[plan.program->guards[i].pass];
    counts.hits += plan.result.guard_hits[i];
    counts.misses += plan.result.guard_misses[i];
  }
}

double Experiment::State::limit_milliseconds(const ReadyPlan& plan, const Bindings& bindings,
                                             std::map<std::string, OperatorTime>* by_operator) const {
  const Graph& g = *plan.graph;
  const MachineCeilings machine{ceilings.f32_gflops * 1e9, ceilings.bf16_gflops * 1e9, ceilings.read_gbs * 1e9};
  double total = 0;
  for (const NodeCost& n : cost_of(g, executed_case(*plan.program, plan.result, bindings)).nodes) {
    const double ms = n.seconds(machine) * 1e3;
    total += ms;
    if (!by_operator) continue;
    OperatorTime& limit = (*by_operator)[std::string(g.node(n.node).op->name)];
    limit.limit_milliseconds += ms;
    limit.limit_compute_milliseconds += n.cost.flops / (n.is_bf16 ? machine.bf16_flops : machine.f32_flops) * 1e3;
  }
  return total;
}

int64_t Experiment::State::cells_of(const ReadyPlan& plan, int64_t batch) const {
  if (plan.new_tokens == 0) return data->real_cells(batch);
  const std::vector<int32_t>& tokens = plan.decoded.at(batch);
  return std::count_if(tokens.begin(), tokens.end(), [](int32_t token) { return token >= 0; });
}

PlanFigures Experiment::State::plan_figures(const ReadyPlan& plan, const Latency& latency, const std::vector<int64_t>& batches,
                                            int64_t rounds) const {
  PlanFigures f;
  f.latency_ms = latency;
  double cells = 0;
  const std::map<int64_t, double> shares = shares_of(batches);
  for (const auto& [b, share] : shares) cells += share * static_cast<double>(cells_of(plan, b));
  if (latency.mean > 0) f.cells_per_s = cells / (latency.mean * 1e-3);
  if (plan.new_tokens > 0) f.tokens_per_s = f.cells_per_s;
  f.batches = static_cast<int64_t>(shares.size());
  f.rounds = rounds;
  f.peak_weight_bytes = plan.weight_bytes();
  f.peak_activation_bytes = plan.activation_bytes();
  return f;
}

double Experiment::State::mean_limit_milliseconds(ReadyPlan& plan, const std::vector<int64_t>& batches, const Progress& progress) {
  double limit = 0;
  for (const auto& [b, share] : shares_of(batches)) {
    progress.cancel.check();
    const Batch batch = data->batch(b);
    ExecuteOptions execute;
    execute.record = true;
    run_batch(plan, batch, execute);
    limit += share * limit_milliseconds(plan, bindings_of(*plan.graph, batch, plan.new_tokens), nullptr);
  }
  return limit;
}

std::vector<OperatorTime> Experiment::State::operator_times(ReadyPlan& plan, const Progress& progress) {
  std::map<std::string, OperatorTime> times;
  const int64_t batches = std::min<int64_t>(data->batch_count(), 8);
  for (int64_t b = 0; b < batches; ++b) {
    progress.report("time by operator", b, batches);
    const Batch batch = data->batch(b);
    ExecuteOptions execute;
    execute.events = true;
    execute.record = true;
    run_batch(plan, batch, execute);
    for (const DeviceEvent& e : plan.result.events) {
      const Node& node = plan.graph->node(plan.program->steps[static_cast<size_t>(e.step)].node);
      OperatorTime& t = times[std::string(node.op->name)];
      ++t.steps;
      t.milliseconds += static_cast<double>(e.end_ns - e.begin_ns) * 1e-6 / static_cast<double>(batches);
    }
    std::map<std::string, OperatorTime> limits;
    limit_milliseconds(plan, bindings_of(*plan.graph, batch, plan.new_tokens), &limits);
    for (const auto& [op, limit] : limits) {
      times[op].limit_milliseconds += limit.limit_milliseconds / static_cast<double>(batches);
      times[op].limit_compute_milliseconds += limit.limit_compute_milliseconds / static_cast<double>(batches);
    }
  }
  std::vector<OperatorTime> list;
  for (auto& [op, t] : times) {
    t.op = op;
    t.batches = batches;
    if (t.steps > 0) list.push_back(t);
  }
  std::sort(list.begin(), list.end(), [](const OperatorTime& a, const OperatorTime& b) { return a.milliseconds > b.milliseconds; });
  return list;
}

}  // namespace stormcell
