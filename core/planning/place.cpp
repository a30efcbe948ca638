#include "core/planning/place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "core/base/bounded_number.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/run_kind.h"
#include "core/cost/cluster.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/placement/eplb.h"
#include "core/placement/joint.h"
#include "core/placement/placement_text.h"
#include "core/placement/traffic.h"
#include "core/planning/advice.h"
#include "core/planning/cluster_file.h"
#include "core/planning/model_sizes.h"
#include "core/planning/step_loads.h"
#include "core/planning/step_objective.h"
#include "core/profile/router_layer.h"
#include "core/readings/lacks.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_writer.h"

namespace stormcell {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kSolvers = {
    PlacementSolver{"eplb", "the EPLB rule: replicas for the most loaded experts, then packing by load"},
    PlacementSolver{"joint", "balance and traffic together, by annealed swaps; needs single choices, and no spare slots yet"},
    PlacementSolver{"keep", "the contiguous layout that servers begin with"},
};
constexpr std::array kPlannedSolvers = {"load", "exact"};

const PlacementSolver& find_solver(std::string_view id) {
  std::string known;
  for (const PlacementSolver& solver : kSolvers) {
    if (solver.id == id) return solver;
    add_to_list(known, solver.id);
  }
  const bool planned = std::find(kPlannedSolvers.begin(), kPlannedSolvers.end(), id) != kPlannedSolvers.end();
  bad_input("--solver", in_quotes(id) + " is " + (planned ? "not in this version" : "no solver"), "one of " + known);
}

constexpr int64_t kMostSlots = 1 << 20;  // of a layer

bool has_batches(const SessionReader&, const RunSummary& run) { return run.batches > 0; }

/// All that a search is about. The objective refers to the loads and routes beside it.
struct Task {
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  Cluster cluster;
  RunSummary run;
  RunLayout layout;
  SplitLoads loads;
  std::optional<SplitRoutes> routes;
  EplbShape shape;
  int32_t branches = 0;
  std::optional<ModelSizes> sizes;
  std::optional<StepObjective> objective;  ///< where sizes are known
  double move_ms = 0;                      ///< of one slot, shared over the steps that it pays off in
};

/// All routers of one number of branches: servers place them alike.
int32_t branches_of(const RunLayout& layout, const std::string& session) {
  if (layout.routers.empty()) bad_input(session, "the run has no routers", "name another run");
  const RouterInfo& first = layout.routers[0];
  for (const RouterInfo& r : layout.routers)
    if (r.branches != first.branches)
      bad_input(session, r.name + " has " + counted(r.branches, "branch") + ", " + first.name + " has " + std::to_string(first.branches),
                "only layers of equally many experts are placed");
  return first.branches;
}

void find_shape(const PlaceOptions& options, const nlohmann::json& about, Task& task) {
  const int64_t groups = options.groups > 0 ? options.groups : std::max<int64_t>(whole_at(about, "groups"), 1);
  const int64_t all = task.branches + options.redundant;
  if (all > kMostSlots) bad_input("--redundant", "makes " + std::to_string(all) + " slots a layer", "name fewer");
  task.shape = {static_cast<int32_t>(all), static_cast<int32_t>(std::min<int64_t>(groups, task.branches)), task.cluster.nodes,
                task.cluster.ranks()};
  if (all % task.shape.ranks) {
    const int64_t up = task.shape.ranks - all % task.shape.ranks;
    bad_input("--redundant",
              std::to_string(task.branches) + " experts and " + std::to_string(options.redundant) + " spare slots do not divide among " +
                  std::to_string(task.shape.ranks) + " GPUs",
              "name " + std::to_string(options.redundant + up));
  }
  if (const std::string fault = eplb_fault(task.shape, task.branches); !fault.empty())
    bad_input(options.groups > 0 ? "--groups" : "--cluster", fault, "choose another number");
}

std::vector<std::vector<float>> as_floats(const LayerLoads& loads) {
  std::vector<std::vector<float>> out;
  for (const std::vector<double>& layer : loads) out.emplace_back(layer.begin(), layer.end());
  return out;
}

double mean_imbalance(const Placement& placement, const LayerLoads& loads) {
  double sum = 0;
  for (size_t l = 0; l < loads.size(); ++l) sum += imbalance_of_ranks(loads_of_ranks(placement.layers[l], placement.ranks, loads[l]));
  return sum / static_cast<double>(loads.size());
}

LayoutFigures figures_of(const Placement& placement, const LayerLoads& loads, const SplitRoutes* routes, std::span<const size_t> tokens) {
  LayoutFigures figures;
  figures.imbalance = mean_imbalance(placement, loads);
  if (!routes) return figures;
  const Traffic traffic = count_traffic(routes->routes, tokens, placement);
  figures.cross_pairs = traffic.cross_pairs, figures.ranks_per_token = traffic.ranks_per_token;
  return figures;
}

/// Adds what steps cost; moving begins at the contiguous layout.
void add_step_cost(const Task& task, const Placement& placement, bool held_out, LayoutFigures& figures, const Progress& progress) {
  if (!task.objective) return;
  figures.step = task.objective->judge(placement, held_out, progress);
  if (!figures.step) return;
  const Placement before = contiguous_placement(placement.layers.size(), placement.branches, placement.slot_count(), placement.ranks);
  figures.objective_ms = figures.step->objective_ms + task.move_ms * static_cast<double>(moved_slots(before, placement));
}

LayoutLine line_of(const std::string& name, const Placement& placement, const Task& task, const Progress& progress) {
  const SplitRoutes* routes = task.routes ? &*task.routes : nullptr;
  const auto tokens = [&](bool fit) {
    return routes ? std::span<const size_t>(fit ? routes->fit : routes->held_out) : std::span<const size_t>();
  };
  LayoutLine line{name, figures_of(placement, task.loads.fit, routes, tokens(true)), {}};
  add_step_cost(task, placement, false, line.fit, progress);
  if (task.loads.steps_held_out > 0) {
    line.held_out = figures_of(placement, task.loads.held_out, routes, tokens(false));
    add_step_cost(task, placement, true, *line.held_out, progress);
  }
  return line;
}

std::vector<std::string> warnings_of(const Placement& result, const SplitLoads& loads) {
  std::vector<std::string> warnings;
  if (const int32_t layers = layers_with_idle_replicas(result); layers > 0)
    warnings.push_back("in " + counted(layers, "layer") +
                       " two replicas of an expert lie on one GPU, as the EPLB rule may put them: the second brings nothing");
  if (loads.steps_held_out == 0) warnings.emplace_back("nothing is held out, so the figures are those that were fitted");
  return warnings;
}

int64_t store(const PlaceOptions& options, const SessionReader& session, const Task& task, const Placement& result, PlaceFigures& figures) {
  NamedPlacement named{result, {}, {}, static_cast<int32_t>(whole_at(json_or_null(task.run.dataset), "layers")), task.cluster.nodes};
  // A trace names its layers as its program counted them; a model that ran here by their weights.
  const bool traced = run_kind(task.run.kind) == RunKind::import;
  for (const RouterInfo& r : task.layout.routers) {
    named.routers.push_back(r.name);
    named.numbers.push_back(r.layer < 0 && !traced ? layer_in_name(r.name) : r.layer);
  }
  StoredPlacement stored;
  stored.run = task.run.id;
  stored.name = options.name.empty() ? figures.solver : options.name;
  stored.solver = figures.solver;
  stored.layout = to_json(named);
  stored.summary = to_json(figures);
  SessionWriter writer(session.path(), session.summary().model);
  const int64_t id = writer.add_placement(stored);
  writer.close();
  return id;
}

bool lacks(const Task& task, std::string_view fact) {
  const std::vector<std::string> all = lacks_of_import(task.run);
  return std::find(all.begin(), all.end(), fact) != all.end();
}

/// Homes are those of the cluster only where as many ranks were recorded as it has.
void look_at_homes(Task& task) {
  int32_t last = -1;
  for (const TokenRoutes::Token& t : task.routes->routes.tokens) last = std::max(last, t.rank);
  if (last + 1 != task.shape.ranks)
    for (TokenRoutes::Token& t : task.routes->routes.tokens) t.rank = -1;
}

void find_objective(const PlaceOptions& options, const SessionReader& session, Task& task) {
  task.sizes = find_model_sizes(options.sizes, task.run, task.layout, session.summary().model.name);
  if (!task.sizes) {
    if (!options.step.backend.empty() || options.step.tokens_per_step > 0 || options.step.p95 || options.amortise > 0)
      bad_input(session.path(), "says no sizes of the model, so nobody knows what a step costs",
                "--model-config config.json, or --hidden N --ffn N");
    return;
  }
  if (!task.routes && options.step.tokens_per_step == 0 && lacks(task, "steps")) return;  // one sum is no step
  const CostModel model = cost_model_of(task.cluster, *task.sizes);
  if (task.routes)
    task.objective.emplace(options.step, task.cluster, model, *task.routes);
  else
    task.objective.emplace(options.step, task.cluster, model, task.loads, lacks(task, "k") ? 0 : task.layout.routers[0].fan_out);
  // All ranks take their new experts at a time, over the slowest link that there is.
  const double rate = task.cluster.nodes > 1 ? task.cluster.network_bytes_per_s : task.cluster.fabric_bytes_per_s;
  if (options.amortise > 0)
    task.move_ms = 1e3 * task.sizes->branch_bytes / rate / static_cast<double>(task.shape.ranks) / static_cast<double>(options.amortise);
}

void read_task(const PlaceOptions& options, const SessionReader& session, const std::string& selector, Task& task,
               const Progress& progress) {
  task.cluster = read_cluster(options.cluster);
  task.run = choose_run(session, selector, has_batches, "holds no batch yet");
  task.layout = session.layout(task.run.id);
  task.branches = branches_of(task.layout, session.path());
  find_shape(options, json_or_null(task.run.dataset), task);
  task.routes = read_split_routes(session, task.run, task.layout, options.phase, options.fit_fraction, progress);
  if (task.routes) {
    const SplitRoutes& r = *task.routes;
    task.loads = {loads_of_tokens(r.routes, r.fit),
                  loads_of_tokens(r.routes, r.held_out),
                  static_cast<int64_t>(r.fit.size()),
                  static_cast<int64_t>(r.held_out.size()),
                  {},
                  {}};
  } else {
    task.loads = read_split_loads(session, task.run.id, task.layout, options.phase, options.fit_fraction, progress);
  }
  if (task.routes) look_at_homes(task);
  find_objective(options, session, task);
}

/// By the solver that was asked for.
Placement search(const PlaceOptions& options, const Task& task, const Placement& contiguous, const Placement& eplb,
                 const Progress& progress) {
  if (options.solver == "keep") return contiguous;
  if (options.solver == "eplb") return eplb;
  if (!task.routes)
    bad_input("--solver", "joint needs single choices of one kind of cells, and the data lacks them (decisions)",
              "--solver eplb takes loads; " + how_to_get(task.run, "decisions", "record single choices for joint"));
  if (options.redundant > 0)
    bad_input("--redundant", "spare slots with --solver joint are not in this version", "--solver eplb takes them");
  // Equal weights for both kinds of pairs would be 1; tuned by hand, see docs/decisions/026-placement.md.
  constexpr JointOptions kJoint{.together = 0.5, .slack = 0.04, .seed = 1, .sweeps = 1000};
  return joint_placement(task.routes->routes, task.routes->fit, eplb, kJoint, progress);
}

bool is_fit_fraction(double share) { return share > 0 && share <= 1; }
[[noreturn]] void refuse_fit_fraction(std::string_view text) {
  does_not_fit("--fit-fraction", text, "a share above 0 and at most 1, for example 0.7");
}

void check_options(const PlaceOptions& options) {
  if (!options.sizes.model_config.empty() && (options.sizes.hidden > 0 || options.sizes.ffn > 0))
    bad_input("--model-config", "has the sizes already", "leave --hidden and --ffn out");
  if (!options.step.backend.empty() && !find_backend(options.step.backend))
    bad_input("--backend", in_quotes(options.step.backend) + " is none", "one of " + joined(kBackends));

  find_solver(options.solver);
  if (!options.phase.empty() && options.phase != "prefill" && options.phase != "decode")
    bad_input("--phase", in_quotes(options.phase) + " is no phase of a placement", "prefill or decode");
  if (!is_fit_fraction(options.fit_fraction)) refuse_fit_fraction(std::to_string(options.fit_fraction));
}

}  // namespace

double parse_fit_fraction(std::string_view text) {
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size() || !is_fit_fraction(share)) refuse_fit_fraction(text);
  return share;
}

std::vector<PlacementSolver> placement_solvers() { return {kSolvers.begin(), kSolvers.end()}; }

std::vector<std::string_view> placement_backends() { return {std::begin(kBackends), std::end(kBackends)}; }

PlaceFigures place(const PlaceOptions& options, const Progress& progress) {
  const Clock::time_point begin = Clock::now();
  check_options(options);
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  Task task;
  read_task(options, session, path.run, task, progress);
  PlaceFigures f;
  f.session = path.file, f.model = session.summary().model.name, f.cluster = task.cluster.name;
  f.run = task.run.id, f.solver = options.solver, f.phase = options.phase, f.fit_fraction = options.fit_fraction;
  f.layers = static_cast<int32_t>(task.layout.routers.size()), f.branches = task.branches;
  f.nodes = task.cluster.nodes, f.ranks = task.shape.ranks, f.slot_count = task.shape.slot_count;
  f.unit = task.routes ? "tokens" : "steps";
  f.steps_fit = task.loads.steps_fit, f.steps_held_out = task.loads.steps_held_out;
  const Placement contiguous = contiguous_placement(task.layout.routers.size(), task.branches, f.slot_count, f.ranks);
  const Placement eplb = eplb_placement(as_floats(task.loads.fit), task.shape);
  const Placement result = search(options, task, contiguous, eplb, progress);
  f.sizes = task.sizes;
  if (task.objective) {
    f.backend = to_text(task.objective->backend()), f.step_kind = task.objective->steps();
    f.costed_fit = task.objective->count(false), f.costed_held_out = task.objective->count(true);
  }
  f.layouts = {line_of("contiguous", contiguous, task, progress), line_of("eplb", eplb, task, progress),
               line_of("result", result, task, progress)};
  f.moved_slots = moved_slots(contiguous, result);
  int64_t bytes = 0;
  const bool sized = std::all_of(task.layout.routers.begin(), task.layout.routers.end(), [&](const RouterInfo& r) {
    bytes += r.branch_bytes;
    return r.branch_bytes > 0;
  });
  if (sized) f.slot_bytes = bytes;
  f.advice = advice_of(f.layouts);
  f.warnings = warnings_of(result, task.loads);
  if (!task.objective)
    f.warnings.push_back(
        task.sizes ? "the data is one sum of many steps, so the figures are loads: --tokens-per-step costs steps of that many tokens"
                   : "the model's sizes are not known, so the figures are loads: --model-config, or --hidden and --ffn, cost steps");
  f.lacks = lacks_of_import(task.run);
  f.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  f.placement = store(options, session, task, result, f);
  return f;
}

}  // namespace stormcell
