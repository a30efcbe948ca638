#include "core/planning/place.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/bounded_number.h"
#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/cost/cluster.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/placement/placement_text.h"
#include "core/placement/traffic.h"
#include "core/planning/advice.h"
#include "core/planning/layout_figures.h"
#include "core/planning/option_word.h"
#include "core/planning/paired.h"
#include "core/planning/place_task.h"
#include "core/planning/placement_search.h"
#include "core/planning/placement_solvers.h"
#include "core/planning/solved_placement.h"
#include "core/planning/step_loads.h"
#include "core/readings/lacks.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_writer.h"

namespace stormcell {
namespace {

using Clock = std::chrono::steady_clock;

LayoutFigures figures_of(const Placement& placement, const PlaceTask& task, DataPart part, const Progress& progress) {
  const DataSlice data = slice_of(task, part);
  LayoutFigures figures;
  figures.imbalance = mean_imbalance(placement, data);
  if (data.routes) {
    const Traffic traffic = count_traffic(*data.routes, data.tokens, placement, data.way);
    figures.cross_pairs = traffic.cross_pairs, figures.ranks_per_token = traffic.ranks_per_token;
  }
  if (data.objective) figures.step = data.objective->mean_step(placement, part, progress);
  if (!figures.step) return figures;
  if (task.calibration)
    figures.trust =
        trust_in(*task.calibration, figures.step->dispatch_ms, figures.step->compute_ms, figures.step->combine_ms);
  figures.objective_ms =
      figures.step->objective_ms + task.move_ms * static_cast<double>(moved_slots(task.before, placement));
  return figures;
}

LayoutLine line_of(LayoutRole role, std::string_view name, const Placement& placement, const PlaceTask& task,
                   const Progress& progress) {
  LayoutLine line{role, std::string(name), figures_of(placement, task, DataPart::fitted, progress), {}};
  if (task.loads.held_out_units > 0) line.held_out = figures_of(placement, task, DataPart::held_out, progress);
  return line;
}

/// `from`: what --from names, may be empty.
std::vector<std::string> warnings_of(const SearchOutcome& found, const std::string& from, const PlaceTask& task) {
  std::vector<std::string> warnings = doubts_about(task.cluster);
  warnings.insert(warnings.end(), task.left_out.begin(), task.left_out.end());
  if (!task.from_doubt.empty()) warnings.push_back(task.from_doubt);
  if (const int32_t layers = layers_with_idle_replicas(task.before); !from.empty() && layers > 0)
    warnings.push_back("in " + counted(layers, "layer") + " of " + from +
                       " two replicas of an expert are on one GPU, and the second brings nothing");
  if (const int32_t layers = layers_with_idle_replicas(found.result);
      layers > 0 && (from.empty() || found.result != task.before))
    warnings.push_back(
        "in " + counted(layers, "layer") +
        " two replicas of an expert are on one GPU, as the EPLB rule may put them, and the second brings nothing");
  const bool held_out = task.loads.held_out_units > 0;
  if (!held_out) warnings.emplace_back("nothing is held out, so the figures are those that were fitted");
  if (task.routes && task.routes->parts.requests == 1)
    warnings.push_back("the trace is one request, so " +
                       std::string(held_out ? "what is held out is its own end, and " : "") +
                       "other requests may be routed differently");
  else if (task.routes && held_out && task_lacks(task, "requests"))
    warnings.emplace_back(
        "the data lacks requests: what is held out is later in time, and may be of the same requests");
  else if (task.routes && held_out && task.routes->parts.requests_fit == 0)
    warnings.push_back("the trace is " + counted(task.routes->parts.requests, "request") + ", fewer than " +
                       std::to_string(kFewestRequests) +
                       ": what is held out is later in time, and may be of the same requests");
  if (const std::string drawn = warning_of_drawn_steps(task); !drawn.empty()) warnings.push_back(drawn);
  if (task.routes && task.routes->dropped_choices > 0)
    warnings.push_back(counted(task.routes->dropped_choices, "choice") + " dropped by capacity " +
                       (task.routes->dropped_choices == 1 ? "is" : "are") + " in no figure");
  if (task.dropped_homes > 0)
    warnings.push_back("tokens of " + counted(task.dropped_homes, "rank") + " were recorded, which are not the " +
                       std::to_string(task.shape.ranks) +
                       " of the cluster: tokens are taken to live on any of these alike");
  if (task.objective && task.objective->filled_steps() > 0)
    warnings.push_back(
        counted(task.objective->filled_steps(), "recorded step") + " of " +
        std::to_string(task.objective->count(DataPart::fitted) + task.objective->count(DataPart::held_out)) +
        " held tokens of requests on both sides: on each side they are filled up with tokens of other steps there, to "
        "as "
        "many as were recorded");
  if (found.evenly && task.way().rule == ReplicaRule::nearest && task.shape.slot_count > task.branches)
    warnings.emplace_back(
        "the figures are by the nearest replicas; this search looked for balance and traffic of replicas that share "
        "evenly");
  if (task.objective && task.objective->residence() == Residence::follow)
    warnings.emplace_back(
        "tokens that follow their heaviest expert are an experiment: all that attention needs of them would have to be "
        "there");
  if (!task.objective)
    warnings.push_back(task.sizes ? "the data is one sum of many steps, so the figures are loads: --tokens-per-step "
                                    "costs steps of that many tokens"
                                  : "the model's sizes are not known, so the figures are loads: --model-config, or "
                                    "--hidden and --ffn, cost steps");
  if (found.by_clock)
    warnings.emplace_back(
        "the clock hurried or ended a search before its work was done: another machine may find another placement "
        "(--repeatable)");
  return warnings;
}

/// "6 requests", "1 request", "1 block of 8 steps".
std::string counted_parts(int64_t count, std::string unit) {
  if (count == 1) unit.erase(std::min(unit.find(' '), unit.size()) - 1, 1);
  return std::to_string(count) + " " + unit;
}

/// Layouts of which no other has less imbalance and less traffic, both as fitted; the most even one first.
std::vector<LayoutLine> front_of(const SearchOutcome& found, const PlaceTask& task, const Progress& progress) {
  if (!task.routes || found.tried.empty()) return {};
  struct Point {
    const FoundPlacement* found;
    double imbalance, cross_pairs;
  };
  const DataSlice data = slice_of(task, DataPart::fitted);
  std::vector<Point> points;
  for (const FoundPlacement& f : found.tried)
    points.push_back({&f, mean_imbalance(f.placement, data),
                      count_traffic(*data.routes, data.tokens, f.placement, data.way).cross_pairs});
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.imbalance != b.imbalance ? a.imbalance < b.imbalance : a.cross_pairs < b.cross_pairs;
  });
  std::vector<LayoutLine> front;
  double least = std::numeric_limits<double>::infinity();
  for (const Point& p : points) {
    if (p.cross_pairs >= least) continue;
    least = p.cross_pairs;
    front.push_back(line_of(LayoutRole::tried, p.found->name, p.found->placement, task, progress));
    front.back().tried = static_cast<size_t>(p.found - found.tried.data());
  }
  return front;
}

/// Slots of equally many spare ones on each GPU, in all layers.
std::optional<SparePrice> spare_price(const PlaceTask& task) {
  const int32_t spare = task.shape.slot_count - task.branches;
  const std::optional<double> of_slot = slot_bytes_of(task);
  if (spare <= 0 || !of_slot) return {};
  SparePrice price;
  price.gpu_bytes = *of_slot * spare / task.shape.ranks;
  price.memory_share = price.gpu_bytes / task.cluster.memory_bytes;
  if (task.sizes && task.sizes->kv_bytes > 0) price.kv_tokens = price.gpu_bytes / task.sizes->kv_bytes;
  return price;
}

StoredPlacement row_of(const PlaceOptions& options, const PlaceTask& task, const Placement& result,
                       const PlaceFigures& figures) {
  NamedPlacement named{result, {}, task.layer_numbers, model_layers_of(task.run), task.cluster.nodes};
  for (const RouterInfo& r : task.layout.routers) named.routers.push_back(r.name);
  StoredPlacement stored;
  stored.run = task.run.id;
  stored.name = options.name.empty() ? figures.solver : options.name;
  stored.solver = figures.solver;
  stored.layout = to_json(named);
  stored.summary = to_json(figures);
  return stored;
}

/// Whether both are the same search with the same outcome. Only keys of `stored` count: an earlier version has fewer.
bool is_same(const StoredPlacement& stored, const StoredPlacement& row) {
  if (stored.run != row.run || stored.name != row.name || stored.solver != row.solver || stored.layout != row.layout)
    return false;
  const nlohmann::json before = json_or_null(stored.summary), now = json_or_null(row.summary);
  if (!before.is_object()) return false;
  for (const auto& [key, value] : before.items()) {
    constexpr std::string_view kOfTheCall[] = {"version", "session", "placement", "already_stored", "seconds"};
    if (std::ranges::find(kOfTheCall, std::string_view(key)) == std::end(kOfTheCall) &&
        value != value_at(now, key.c_str()))
      return false;
  }
  return true;
}

struct StoredRow {
  int64_t id = 0;
  bool already = false;  ///< an earlier call stored it
};
/// Stores all rows or, if one cannot be written, those before it. A row that the newest placements already hold is not
/// written again. If another one is newer it is, so that the newest one is always that of the last call.
std::vector<StoredRow> store(const SessionReader& session, const std::vector<StoredPlacement>& rows) {
  std::vector<StoredRow> out(rows.size());
  const std::vector<StoredPlacement> stored = session.placements();
  for (auto p = stored.rbegin(); p != stored.rend(); ++p) {
    const auto same = std::ranges::find_if(rows, [&](const StoredPlacement& row) { return is_same(*p, row); });
    if (same == rows.end()) break;
    StoredRow& found = out[same - rows.begin()];
    if (!found.already) found = {p->id, true};
  }
  if (std::ranges::all_of(out, &StoredRow::already)) return out;
  SessionWriter writer(session.path(), session.summary().model);
  for (size_t r = 0; r < rows.size(); ++r)
    if (!out[r].already) out[r].id = writer.add_placement(rows[r]);
  writer.close();
  return out;
}

void take_stored(const StoredRow& row, PlaceFigures& figures) {
  figures.placement = row.id, figures.already_stored = row.already;
}

bool is_fit_fraction(double share) { return share > 0 && share <= 1; }
[[noreturn]] void refuse_fit_fraction(std::string_view text) {
  does_not_fit("--fit-fraction", text, "a share above 0 and at most 1, for example 0.7");
}

void check_options(const PlaceOptions& options) {
  if (!options.sizes.model_config.empty() && (options.sizes.hidden > 0 || options.sizes.ffn > 0))
    bad_input("--model-config", "has the sizes already", "leave --hidden and --ffn out");
  parse_word("--backend", options.step.backend, kBackends, Backend::per_rank);  // refused before anything is read
  constexpr double kMostTokens = 1 << 20, kMostSpare = 1 << 20;
  check_bounds("--tokens-per-step", options.step.tokens_per_step, {0, kMostTokens});
  check_bounds("--redundant", options.redundant, {0, kMostSpare});
  const PlacementSolver& solver = find_placement_solver(options.solver);
  parse_phase(options.phase);
  if (!options.aim.empty() && !value_of_word<PlacementAim>(kPlacementAims, options.aim))
    bad_input("--aim", in_quotes(options.aim) + " is not known",
              advice_on_word(options.aim, {std::begin(kPlacementAims), std::end(kPlacementAims)}, ""));
  if (!options.aim.empty() && !solver.takes_aim)
    bad_input("--aim", "belongs to --solver joint and exact", "leave it out");
  if (!is_fit_fraction(options.fit_fraction)) refuse_fit_fraction(std::to_string(options.fit_fraction));
}

/// All but what the search finds.
PlaceFigures about(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task) {
  PlaceFigures f;
  f.session = session.path(), f.model = session.summary().model.name, f.cluster = task.cluster.name;
  f.run = task.run.id, f.solver = options.solver, f.phase = task.phase, f.fit_fraction = options.fit_fraction;
  f.layers = static_cast<int32_t>(task.layout.routers.size()), f.branches = task.branches;
  f.nodes = task.cluster.nodes, f.ranks = task.shape.ranks, f.slot_count = task.shape.slot_count;
  f.unit = task.routes ? SplitUnit::tokens : SplitUnit::steps;
  f.fit_units = task.loads.fit_units, f.held_out_units = task.loads.held_out_units;
  if (f.held_out_units > 0)
    f.held_out = task.routes && task.routes->parts.requests_fit > 0 ? HeldOutBy::requests : HeldOutBy::time;
  f.requests = task.routes ? task.routes->parts.requests : 0;
  f.dropped_choices = task.routes ? task.routes->dropped_choices : 0;
  f.sizes = task.sizes;
  if (task.objective) {
    f.backend = task.objective->backend(), f.step_kind = task.objective->steps();
    f.costed_fit = task.objective->count(DataPart::fitted),
    f.costed_held_out = task.objective->count(DataPart::held_out);
    f.statistic = task.objective->by_p95() ? StepStatistic::p95 : StepStatistic::mean;
    f.tokens_per_step = options.step.tokens_per_step, f.amortise = options.amortise;
    f.calibration = task.calibration;
    f.residence = task.objective->residence();
  }
  if (task.objective || task.replicas != ReplicaRule::even) f.replicas = task.replicas;
  int64_t bytes = 0;
  const bool sized = std::all_of(task.layout.routers.begin(), task.layout.routers.end(), [&](const RouterInfo& r) {
    bytes += r.branch_bytes;
    return r.branch_bytes > 0;
  });
  if (sized) f.slot_bytes = bytes;
  f.lacks = lacks_of_import(task.run);
  return f;
}

/// The outcome of one search: its figures, and the row to store.
struct PlacedRow {
  PlaceFigures figures;
  StoredPlacement row;
};
PlacedRow place_once(const PlaceOptions& options, const SessionReader& session, const std::string& run,
                     const Progress& progress) {
  const Clock::time_point begin = Clock::now();
  check_options(options);
  PlaceTask task;
  read_task(options, session, run, task, progress);
  check_memory(task);
  SolvedPlacement solved =
      judge_outcome(options, session, task, search_placement(options, task, progress), begin, progress);
  StoredPlacement row = row_of(options, task, solved.placement, solved.figures);
  return {std::move(solved.figures), std::move(row)};
}

}  // namespace

double parse_time_limit(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr double kMost = 86400;
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0) || seconds > kMost)
    does_not_fit("--time-limit", text, "seconds above 0 and at most 86400, for example 15");
  return seconds;
}

double parse_fit_fraction(std::string_view text) {
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size() || !is_fit_fraction(share)) refuse_fit_fraction(text);
  return share;
}

std::vector<std::string_view> placement_backends() { return {std::begin(kBackends), std::end(kBackends)}; }

std::vector<std::string_view> residences() { return {std::begin(kResidences), std::end(kResidences)}; }

std::vector<std::string_view> replica_rules() { return {std::begin(kReplicaRules), std::end(kReplicaRules)}; }

SolvedPlacement judge_outcome(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task,
                              SearchOutcome found, Clock::time_point begin, const Progress& progress) {
  PlaceFigures f = about(options, session, task);
  f.aim = found.aim, f.chosen = found.chosen, f.chosen_on = found.chosen_on;
  if (found.bound >= 0) f.bound_ms = found.bound;
  const Placement contiguous = contiguous_placement(task.layout.routers.size(), task.branches, f.slot_count, f.ranks);
  struct Layout {
    LayoutRole role;
    const Placement& placement;
  };
  const Layout first{LayoutRole::contiguous, contiguous}, eplb{LayoutRole::eplb, found.eplb},
      result{LayoutRole::result, found.result}, from{LayoutRole::from, task.before};
  const auto add_line = [&](const Layout& l) {
    f.layouts.push_back(line_of(l.role, to_text(l.role), l.placement, task, progress));
  };
  add_line(first), add_line(eplb), add_line(result);
  if (!options.from.empty()) add_line(from);
  f.front = front_of(found, task, progress);
  f.warnings = warnings_of(found, options.from, task);
  const PairedBootstrap paired(task, progress);
  if (!paired.says_something() && paired.parts().count > 0)
    f.warnings.push_back("what is held out is " + counted_parts(paired.parts().count, paired.parts().unit) +
                         ", fewer than " + std::to_string(kFewestParts) +
                         ", so it is not known whether differences may be chance");
  if (paired.says_something()) {
    f.paired_by = paired.parts().unit, f.paired_parts = paired.parts().count;
    const auto compare = [&](const Layout& a, const Layout& b) {
      f.differences.push_back(paired.compare(a.role, a.placement, b.role, b.placement));
    };
    compare(result, first), compare(result, eplb);
    if (!options.from.empty()) compare(result, from);
    compare(eplb, options.from.empty() ? first : from);
  }
  f.moved_slots = moved_slots(task.before, found.result);
  f.spare = spare_price(task);
  f.advice = advice_of(f);
  f.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return {std::move(found.result), std::move(f), std::move(found.tried)};
}

int64_t store_solved(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task,
                     SolvedPlacement& solved) {
  take_stored(store(session, {row_of(options, task, solved.placement, solved.figures)})[0], solved.figures);
  return solved.figures.placement;
}

PlaceFigures place(const PlaceOptions& options, const Progress& progress) {
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  PlacedRow placed = place_once(options, session, path.run, progress);
  take_stored(store(session, {placed.row})[0], placed.figures);
  return std::move(placed.figures);
}

PhasePlacements place_each_phase(const PlaceOptions& options, const Progress& progress) {
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const RunSummary run = choose_recorded_run(session, path.run);
  const std::vector<Phase> phases = session.phases(run.id);
  const auto decodes = std::count(phases.begin(), phases.end(), Phase::decode), all = std::ssize(phases);
  if (decodes == 0 || decodes == all)
    bad_input("--phase",
              "each needs prompts and decoding, and run #" + std::to_string(run.id) + " has " +
                  (all == 0       ? "no phases"
                   : decodes == 0 ? "no decoding"
                                  : "decoding alone"),
              "leave it out");
  PhasePlacements out;
  std::vector<StoredPlacement> rows;  // the rows of both or, if one is stopped or refused, of none
  for (const Phase each : {Phase::prefill, Phase::decode}) {
    const std::string phase(to_text(each));
    PlaceOptions of_phase = options;
    of_phase.phase = phase;
    of_phase.name = (options.name.empty() ? options.solver : options.name) + "-" + phase;
    PlacedRow placed = place_once(of_phase, session, std::to_string(run.id), progress);
    rows.push_back(std::move(placed.row));
    for (const std::string& w : placed.figures.warnings) out.warnings.push_back(phase + ": " + w);
    out.phases.push_back(std::move(placed.figures));
  }
  const std::vector<StoredRow> stored = store(session, rows);
  for (size_t p = 0; p < stored.size(); ++p) take_stored(stored[p], out.phases[p]);
  return out;
}

}  // namespace stormcell
