#include "core/planning/place_task.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/cell/protocol_row.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/placement/placement_files.h"
#include "core/placement/placement_text.h"
#include "core/placement/traffic.h"
#include "core/planning/calibrated_model.h"
#include "core/planning/calls_file.h"
#include "core/planning/cluster_file.h"
#include "core/planning/model_sizes.h"
#include "core/planning/option_word.h"
#include "core/profile/router_layer.h"
#include "core/readings/lacks.h"
#include "core/readings/same_model.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

constexpr int64_t kMostSlots = 1 << 20;  // slots of a layer

bool follows(const PlaceOptions& options) { return options.step.residence == to_text(Residence::follow); }

/// All routers of one number of branches: servers place them alike.
int32_t branches_of(const RunLayout& layout, const std::string& session) {
  if (layout.routers.empty()) bad_input(session, "the run has no routers", "name another run");
  const auto is_exit = [](const RouterInfo& r) { return r.protocol == to_text(ProtocolKind::exit_threshold); };
  if (std::all_of(layout.routers.begin(), layout.routers.end(), is_exit))
    bad_input(session, "its routers are exits and not experts, so there is nothing to place",
              "name a run of a model with experts");
  const RouterInfo& first = layout.routers[0];
  for (const RouterInfo& r : layout.routers)
    if (r.branches != first.branches)
      bad_input(session,
                r.name + " has " + counted(r.branches, "branch") + ", " + first.name + " has " +
                    std::to_string(first.branches),
                "only layers with equal numbers of experts can be placed");
  return first.branches;
}

void find_shape(const PlaceOptions& options, const nlohmann::json& about, const Placement* given, PlaceTask& task) {
  const int64_t groups = options.groups > 0 ? options.groups : std::max<int64_t>(whole_at(about, "groups"), 1);
  const int64_t spare = std::max<int64_t>(options.redundant, 0);
  const int64_t all = given && options.redundant == kSlotsOfFrom ? given->slot_count() : task.branches + spare;
  if (all > kMostSlots) bad_input("--redundant", "makes " + std::to_string(all) + " slots a layer", "name fewer");
  task.shape = {static_cast<int32_t>(all), static_cast<int32_t>(std::min<int64_t>(groups, task.branches)),
                task.cluster.nodes, task.cluster.ranks()};
  if (all % task.shape.ranks) {
    const int64_t up = task.shape.ranks - all % task.shape.ranks;
    // A call that searches for nothing has no --redundant.
    if (options.redundant == kSlotsOfFrom)
      bad_input(
          "--cluster",
          std::to_string(task.branches) + " experts do not divide among " + std::to_string(task.shape.ranks) + " GPUs",
          "--placement of one with spare slots, which stormcell place --redundant " + std::to_string(up) + " makes");
    bad_input("--redundant",
              std::to_string(task.branches) + " experts and " + std::to_string(spare) +
                  " spare slots do not divide among " + std::to_string(task.shape.ranks) + " GPUs",
              "name " + std::to_string(spare + up));
  }
  // A placement of --from is judged as it is.
  if (const int64_t each = all / task.shape.ranks; each > task.branches && options.redundant != kSlotsOfFrom)
    bad_input("--redundant",
              "gives each GPU " + counted(each, "slot") + " of a layer for " + counted(task.branches, "expert") +
                  ", and a second replica on a GPU brings nothing",
              "name at most " + std::to_string(int64_t{task.branches} * (task.shape.ranks - 1)));
  if (const std::string fault = eplb_fault(task.shape, task.branches); !fault.empty())
    bad_input(options.groups > 0 ? "--groups" : "--cluster", fault, "choose another number");
}

/// Homes are those of the cluster only where each of its ranks was recorded, and no other.
void look_at_homes(PlaceTask& task) {
  std::set<int32_t> there;
  for (const TokenRoutes::Token& t : task.routes->routes.tokens)
    if (t.rank >= 0) there.insert(t.rank);
  if (there.empty() ||
      (static_cast<int32_t>(there.size()) == task.shape.ranks && *there.rbegin() + 1 == task.shape.ranks))
    return;
  task.dropped_homes = static_cast<int32_t>(there.size());
  for (TokenRoutes::Token& t : task.routes->routes.tokens) t.rank = -1;
}

/// 0: not known.
int64_t choices_of(const PlaceTask& task) { return task_lacks(task, "k") ? 0 : task.layout.routers[0].fan_out; }

void take_calibration(const PlaceOptions& options, PlaceTask& task) {
  CallsFile calls = read_calls(options.calibration, CallTimes::needed, 0, {}, FileUse::calibration);
  task.left_out = std::move(calls.warnings);
  const Calibration calibration(std::move(calls.calls));
  const MeanStep step{task.objective->mean_tokens(), choices_of(task), task.branches, task.objective->row_range()};
  task.calibration = calibrate_model(calibration, task.cluster, *task.sizes, step, task.model);
  task.calibration->file = options.calibration;
  task.objective->set_model(task.model);
}

void find_objective(const PlaceOptions& options, const SessionReader& session, PlaceTask& task) {
  task.sizes = find_model_sizes(options.sizes, task.run, task.layout, session.summary().model.name);
  if (!task.sizes) {
    if (!options.step.backend.empty() || follows(options) || options.step.tokens_per_step > 0 || options.step.p95 ||
        options.amortise > 0 || !options.calibration.empty())
      bad_input(session.path(), "does not say the sizes of the model, so the cost of a step is not known",
                "--model-config config.json, or --hidden N --ffn N");
    return;
  }
  if (!task.routes && options.step.tokens_per_step == 0 && task_lacks(task, "steps")) {  // one sum is no step
    if (!options.calibration.empty())
      bad_input("--calibration", "is about steps, and the data is one sum of many",
                "--tokens-per-step N draws steps of N tokens");
    return;
  }
  if (options.step.capacity_factor > 0 && options.step.tokens_per_step == 0 && task_lacks(task, "steps"))
    bad_input("--capacity-factor",
              "is about the choices of a step, and the data does not say which tokens were one step",
              "--tokens-per-step N draws steps of N tokens");
  const CostModel& model = task.model = cost_model_of(task.cluster, *task.sizes, task.oversubscription);
  if (task.routes)
    task.objective.emplace(options.step, task.cluster, model, *task.routes, task.routes->parts);
  else
    task.objective.emplace(options.step, task.cluster, model, task.loads, choices_of(task));
  if (!options.calibration.empty()) take_calibration(options, task);
  // All ranks take their new experts at a time, over the slowest link that there is.
  const double rate = task.cluster.nodes > 1 ? task.cluster.network_bytes_per_s : task.cluster.fabric_bytes_per_s;
  if (options.amortise > 0)
    task.move_ms = 1e3 * task.sizes->branch_bytes / rate / static_cast<double>(task.shape.ranks) / options.amortise;
}

std::vector<int32_t> layer_numbers(const PlaceTask& task) {
  // A trace names its layers as its program counted them; a model that ran here by their weights.
  const bool traced = run_kind(task.run.kind) == RunKind::import;
  std::vector<int32_t> numbers;
  for (const RouterInfo& r : task.layout.routers)
    numbers.push_back(r.layer < 0 && !traced ? layer_in_name(r.name) : r.layer);
  return numbers;
}

/// Reads the placement that --from names.
Placement read_from(const PlaceOptions& options, const SessionReader& session, PlaceTask& task) {
  const int32_t ranks = task.cluster.ranks();
  constexpr size_t kMostBytes = size_t{256} << 20;
  if (!is_session(options.from))
    return placement_in_file(parse_placement_file(read_file_text(options.from, kMostBytes), options.from),
                             task.layer_numbers, model_layers_of(task.run), task.branches, ranks, options.from);
  const SessionPath path = parse_session_path(options.from);
  const SessionReader other(path.file);
  const StoredPlacement stored = other.find_placement(path.run);
  Placement out = parse_placement(stored.layout, options.from).placement;
  if (out.layers.size() != task.layout.routers.size() || out.branches != task.branches || out.ranks != ranks)
    bad_input(options.from,
              "is of " + counted(std::ssize(out.layers), "layer") + " of " + counted(out.branches, "expert") + " on " +
                  counted(out.ranks, "GPU") + ", not of this model and cluster",
              "name a placement of the same ones");
  task.from_doubt = doubt_of_model(session, task, other, other.run(stored.run), options.from,
                                   "name a placement of this model; one in a server's file is taken as it is");
  return out;
}

/// The placement before any move: that of --from, else the contiguous one, as servers begin.
Placement find_before(const PlaceOptions& options, const Placement* given, const PlaceTask& task) {
  if (!given)
    return contiguous_placement(task.layout.routers.size(), task.branches, task.shape.slot_count, task.shape.ranks);
  if (given->slot_count() != task.shape.slot_count)
    bad_input("--from",
              options.from + " has " + counted(given->slot_count(), "slot") + " a layer, " +
                  std::to_string(task.shape.slot_count) + " are placed",
              "--redundant " + std::to_string(given->slot_count() - task.branches));
  return *given;
}

LayerLoads sum_of(const std::vector<LayerLoads>& steps, size_t begin, size_t end) {
  LayerLoads sum = steps[begin];
  for (size_t s = begin + 1; s < end; ++s)
    for (size_t l = 0; l < sum.size(); ++l)
      for (size_t b = 0; b < sum[l].size(); ++b) sum[l][b] += steps[s][l][b];
  return sum;
}

/// Share of the part to fit that is used while solver and weights are chosen; the rest is the validation part.
constexpr double kFittedShare = 0.7;

}  // namespace

bool is_session(const std::string& spec) {
  std::ifstream file(parse_session_path(spec).file, std::ios::binary);
  std::string magic(15, ' ');
  return file.read(magic.data(), static_cast<std::streamsize>(magic.size())) && magic == "SQLite format 3";
}

int32_t model_layers_of(const RunSummary& run) {
  return static_cast<int32_t>(whole_at(json_or_null(run.dataset), "layers"));
}

std::string warning_of_drawn_steps(const PlaceTask& task) {
  if (!task.routes || !task.objective || !task.objective->is_drawn()) return {};
  const TokenParts& parts = task.routes->parts;
  const auto drawn = std::ssize(task.objective->tokens(DataPart::fitted)[0]), recorded = std::ssize(parts.fit);
  if (drawn < 2 * recorded) return {};
  return "steps of " + with_commas(drawn) + " tokens are drawn from " + with_commas(recorded) + " recorded " +
         (recorded == 1 ? "one" : "ones") +
         (parts.held_out.empty() ? std::string() : ", those held out from " + with_commas(std::ssize(parts.held_out))) +
         ": each comes about " + with_commas(drawn / recorded) + " times, so fewer experts are met than " +
         with_commas(drawn) + " different tokens would meet";
}

bool task_lacks(const PlaceTask& task, std::string_view fact) {
  const std::vector<std::string> all = lacks_of_import(task.run);
  return std::find(all.begin(), all.end(), fact) != all.end();
}

void read_task(const PlaceOptions& options, const SessionReader& session, const std::string& selector, PlaceTask& task,
               const Progress& progress) {
  task.phase = parse_phase(options.phase);
  task.replicas = parse_word("--replicas", options.step.replicas, kReplicaRules, ReplicaRule::even);
  task.cluster = read_cluster(options.cluster);
  task.run = choose_recorded_run(session, selector);
  task.layout = session.layout(task.run.id);
  task.branches = branches_of(task.layout, session.path());
  task.layer_numbers = layer_numbers(task);
  std::optional<Placement> given;
  if (!options.from.empty()) given = read_from(options, session, task);
  const Placement* from = given ? &*given : nullptr;
  find_shape(options, json_or_null(task.run.dataset), from, task);
  task.before = find_before(options, from, task);
  const ChoiceOrder order = follows(options) ? ChoiceOrder::heaviest_first : ChoiceOrder::recorded;
  task.routes = read_split_routes(session, task.run, task.layout, task.phase, options.fit_fraction, progress, order);
  if (follows(options) && !task.routes)
    bad_input("--residence", "follow needs single choices with their weights, and the data has counts",
              how_to_get(task.run, "decisions", "leave it out"));
  if (task.routes) {
    const TokenRoutes& routes = task.routes->routes;
    const TokenParts& parts = task.routes->parts;
    task.loads = {loads_of_tokens(routes, parts.fit),
                  loads_of_tokens(routes, parts.held_out),
                  std::ssize(parts.fit),
                  std::ssize(parts.held_out),
                  {},
                  {}};
  } else {
    task.loads = read_split_loads(session, task.run.id, task.layout, task.phase, options.fit_fraction, progress);
  }
  if (task.routes) look_at_homes(task);
  find_objective(options, session, task);
}

std::string doubt_of_model(const SessionReader& session, const PlaceTask& task, const SessionReader& other,
                           const RunSummary& run, const std::string& named, const std::string& advice) {
  if (other.summary().id == session.summary().id) return {};
  const ModelSummary &ours = session.summary().model, &theirs = other.summary().model;
  const SameModel same = same_model(ours, task.run, theirs, run);
  if (same == SameModel::no)
    bad_input(named, "is of another model than " + session.path() + ": " + other_model_text(theirs, ours), advice);
  return same == SameModel::yes ? std::string() : model_doubt_text(named, theirs, run, ours, task.run);
}

std::optional<double> slot_bytes_of(const PlaceTask& task) {
  if (task.sizes) return task.sizes->branch_bytes * static_cast<double>(task.layout.routers.size());
  double bytes = 0;
  for (const RouterInfo& r : task.layout.routers) {
    if (r.branch_bytes <= 0) return {};
    bytes += static_cast<double>(r.branch_bytes);
  }
  return bytes;
}

void check_memory(const PlaceTask& task) {
  const double bytes = slot_bytes_of(task).value_or(0) * (task.shape.slot_count / task.shape.ranks);
  if (bytes <= task.cluster.memory_bytes) return;
  const auto text = [](double b) {
    constexpr double kGiB = 1 << 30;
    const int64_t tenths = std::llround(10 * b / kGiB);
    return tenths > 0 ? std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB"
                      : std::to_string(static_cast<int64_t>(b)) + " bytes";
  };
  bad_input("--cluster",
            "each GPU of " + task.cluster.name + " would hold " + text(bytes) + " of experts and has " +
                text(task.cluster.memory_bytes),
            std::string("name one of more GPUs or memory") +
                (task.shape.slot_count > task.branches ? ", fewer spare slots" : "") +
                (task.sizes ? ", or a --dtype of fewer bytes" : ""));
}

DataSlice slice_of(const PlaceTask& task, DataPart part) {
  const bool fitted = part == DataPart::fitted;
  DataSlice out{fitted ? task.loads.fit : task.loads.held_out};
  if (task.routes)
    out.routes = &task.routes->routes, out.tokens = fitted ? task.routes->parts.fit : task.routes->parts.held_out;
  out.way = task.way(), out.objective = task.objective ? &*task.objective : nullptr, out.part = part;
  return out;
}

std::unique_ptr<ValidationSplit> split_for_validation(const PlaceOptions& options, const PlaceTask& task) {
  auto out = std::make_unique<ValidationSplit>();
  if (task.routes) {
    const TokenRoutes& routes = task.routes->routes;
    // Splits by requests as the rest was, however few are left of them: tokens of one request are alike.
    const bool by_request = task.routes->parts.requests_fit > 0;
    out->tokens = part_tokens(routes, task.routes->parts.fit, kFittedShare, by_request ? 2 : 0);
    if (out->tokens.held_out.empty()) return nullptr;
    if (task.objective) out->objective.emplace(options.step, task.cluster, task.model, *task.routes, out->tokens);
    out->loads = {loads_of_tokens(routes, out->tokens.fit), loads_of_tokens(routes, out->tokens.held_out)};
  } else {
    const std::vector<LayerLoads>& steps = task.loads.fit_steps;
    if (steps.size() < 2) return nullptr;
    const auto cut =
        std::clamp<size_t>(static_cast<size_t>(kFittedShare * static_cast<double>(steps.size())), 1, steps.size() - 1);
    SplitLoads split;
    split.fit_steps.assign(steps.begin(), steps.begin() + cut);
    split.held_out_steps.assign(steps.begin() + cut, steps.end());
    if (task.objective) out->objective.emplace(options.step, task.cluster, task.model, split, choices_of(task));
    out->loads = {sum_of(steps, 0, cut), sum_of(steps, cut, steps.size())};
  }
  return out;
}

DataSlice slice_of(const PlaceTask& task, const ValidationSplit& split, DataPart part) {
  DataSlice out{split.loads[part]};
  if (task.routes)
    out.routes = &task.routes->routes, out.tokens = part == DataPart::fitted ? split.tokens.fit : split.tokens.held_out;
  out.way = task.way(), out.objective = split.objective ? &*split.objective : nullptr, out.part = part;
  return out;
}

}  // namespace stormcell
