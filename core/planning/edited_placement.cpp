#include "core/planning/edited_placement.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/placement/placement_edit.h"
#include "core/placement/placement_text.h"
#include "core/planning/solved_placement.h"
#include "core/readings/lacks.h"
#include "core/readings/placements_view.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

/// Most choices of a part that are followed while a hand edits: memory (12 bytes each) and the time of an edit are
/// linear in them. Enough for 8,594 tokens of 61 layers and 8 choices.
constexpr size_t kMostFollowedChoices = size_t{1} << 22;

size_t most_followed(const TokenRoutes& routes) {
  return std::max<size_t>(
      kMostFollowedChoices / std::max<size_t>(static_cast<size_t>(routes.layers) * static_cast<size_t>(routes.k), 1),
      1);
}

std::vector<size_t> evenly(std::span<const size_t> tokens, size_t most) {
  if (tokens.size() <= most) return {tokens.begin(), tokens.end()};
  std::vector<size_t> kept;
  for (size_t i = 0; i < most; ++i) kept.push_back(tokens[i * tokens.size() / most]);
  return kept;
}

/// The loads as EditPart has them.
std::vector<std::vector<double>> loads_of_home(const TokenRoutes& routes, std::span<const size_t> tokens,
                                               int32_t ranks) {
  const size_t all_ranks = ranks;
  std::vector<std::vector<double>> out(routes.layers, std::vector<double>(routes.branches * all_ranks));
  for (const size_t t : tokens) {
    const int32_t home = routes.tokens[t].rank;
    if (home < 0 || home >= ranks) continue;
    for (int32_t l = 0; l < routes.layers; ++l)
      for (const int32_t branch : routes.at(t, l))
        if (branch >= 0) ++out[l][branch * all_ranks + home];
  }
  return out;
}

/// So many on each rank, and as few more as make all ranks hold equally many.
int64_t spare_slots(const SessionReader& session, const std::string& run, int32_t ranks, int32_t of_rank) {
  const RunSummary chosen = choose_recorded_run(session, run);
  const RunLayout layout = session.layout(chosen.id);
  const int64_t branches = layout.routers.empty() ? 0 : layout.routers[0].branches;
  return int64_t{of_rank} * ranks + (ranks - branches % ranks) % ranks;
}

}  // namespace

std::vector<StoredLayout> stored_layouts(const std::string& file, int64_t run) {
  std::vector<StoredLayout> out;
  for (const StoredPlacement& stored : SessionReader(file).placements()) {
    if (stored.run != run) continue;
    try {
      const std::string where = file + "#" + std::to_string(stored.id);
      StoredLayout layout{stored.id, stored.run, stored.name, stored.solver, stored.created, {}, {}, {}, {}, {}, {}};
      layout.placement = parse_placement(stored.layout, where).placement;
      const PlacementOfRun told = parse_place_summary(stored.summary);
      layout.cluster = told.cluster, layout.advice = told.advice;
      layout.replicas = told.basis.replicas.or_usual(ReplicaRule::even);
      layout.residence = told.basis.residence.or_usual(Residence::home);
      for (const PlacementLayoutLine& line : told.front)
        if (line.fit.cross_pairs) layout.front.push_back({line.name, line.fit.imbalance, *line.fit.cross_pairs});
      out.push_back(std::move(layout));
    } catch (const Error&) {  // a later version wrote it: the rest is worth showing
    }
  }
  return out;
}

struct EditedPlacement::State {
  PlaceOptions options;
  PlaceTask task;
  std::optional<PlacementEdit> edit;
  std::vector<EditFigures> first;                             // [parts] of the start
  std::vector<std::vector<std::vector<double>>> first_ranks;  // [parts][layers][ranks] likewise
  std::vector<std::vector<std::optional<double>>> first_ms;   // [parts][layers] likewise
};

EditedPlacement::EditedPlacement() : state_(std::make_unique<State>()) {}
EditedPlacement::~EditedPlacement() = default;

std::shared_ptr<EditedPlacement> EditedPlacement::open(PlaceOptions options, int32_t spare_of_gpu,
                                                       const Progress& progress) {
  std::shared_ptr<EditedPlacement> out(new EditedPlacement);
  State& state = *out->state_;
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  options.redundant = spare_slots(session, path.run, read_cluster(options.cluster).ranks(), spare_of_gpu);
  state.options = options;
  PlaceTask& task = state.task;
  read_task(options, session, path.run, task, progress);
  out->start_ = task.before;
  const bool held_out = task.loads.held_out_units > 0;
  std::vector<EditPart> parts(held_out ? 2 : 1);
  const ReplicaWay way = task.way();
  // With the nearest replicas, a token that lives anywhere is followed from each of its homes.
  const size_t homes = task.objective                          ? task.objective->homes_of_token()
                       : task.replicas == ReplicaRule::nearest ? static_cast<size_t>(task.shape.ranks)
                                                               : 1;
  const size_t most =
      task.routes ? std::max<size_t>(most_followed(task.routes->routes) / homes, 1) : StepObjective::kMostSearchTokens;
  for (size_t p = 0; p < parts.size(); ++p) {
    progress.report("following tokens", static_cast<int64_t>(p), std::ssize(parts));
    const DataSlice data = slice_of(task, kDataParts[p]);
    parts[p].loads = data.loads;
    if (data.routes) {
      parts[p].traffic.emplace(*data.routes, evenly(data.tokens, most), out->start_, way);
      if (way.rule == ReplicaRule::nearest)
        parts[p].loads_of_home = loads_of_home(*data.routes, data.tokens, task.shape.ranks);
    }
    if (data.objective && data.objective->count(data.part) > 0)
      parts[p].steps.emplace(data.objective->placed(out->start_, data.part, most));
  }
  state.edit.emplace(out->start_, std::move(parts), way);
  state.first_ms.resize(state.edit->parts()), state.first_ranks.resize(state.edit->parts());
  for (size_t p = 0; p < state.edit->parts(); ++p) {
    state.first.push_back(state.edit->figures(p));
    for (size_t l = 0; l < out->start_.layers.size(); ++l) {
      state.first_ms[p].push_back(state.edit->layer_ms(p, l));
      state.first_ranks[p].push_back(state.edit->rank_loads(p, l));
    }
  }

  EditedAbout& about = out->about_;
  about.session = session.path(), about.model = session.summary().model.name, about.run = task.run.id,
  about.cluster = task.cluster;
  for (const RouterInfo& r : task.layout.routers) about.routers.push_back(r.name);
  about.numbers = task.layer_numbers, about.branches = task.branches;
  about.ranks = task.shape.ranks, about.slot_count = task.shape.slot_count, about.sizes = task.sizes;
  if (task.objective) {
    about.backend = task.objective->backend(), about.residence = task.objective->residence();
  }
  about.replicas = way.rule;
  about.has_held_out = held_out, about.unit = task.routes ? SplitUnit::tokens : SplitUnit::steps;
  about.fitted = task.loads.fit_units, about.held_out = task.loads.held_out_units;
  if (task.routes) about.followed_tokens = static_cast<int64_t>(most);
  about.lacks = lacks_of_import(task.run);
  return out;
}

const Placement& EditedPlacement::placement() const { return state_->edit->placement(); }

size_t EditedPlacement::part_of(DataPart part) const {
  return about_.has_held_out && part == DataPart::held_out ? 1 : 0;
}

std::optional<EditFigures> EditedPlacement::figures(DataPart part) const {
  if (part == DataPart::held_out && !about_.has_held_out) return {};
  return state_->edit->figures(part_of(part));
}

std::optional<EditFigures> EditedPlacement::start_figures(DataPart part) const {
  if (part == DataPart::held_out && !about_.has_held_out) return {};
  return state_->first[part_of(part)];
}

double EditedPlacement::layer_imbalance(DataPart part, size_t layer) const {
  return state_->edit->layer_imbalance(part_of(part), layer);
}
std::optional<double> EditedPlacement::layer_ms(DataPart part, size_t layer) const {
  return state_->edit->layer_ms(part_of(part), layer);
}

std::optional<double> EditedPlacement::start_layer_ms(DataPart part, size_t layer) const {
  return state_->first_ms[part_of(part)][layer];
}

const std::vector<double>& EditedPlacement::rank_loads(DataPart part, size_t layer) const {
  return state_->edit->rank_loads(part_of(part), layer);
}

const std::vector<double>& EditedPlacement::start_rank_loads(DataPart part, size_t layer) const {
  return state_->first_ranks[part_of(part)][layer];
}
const std::vector<double>& EditedPlacement::slot_loads(DataPart part, size_t layer) const {
  return state_->edit->slot_loads(part_of(part), layer);
}

int64_t EditedPlacement::moved_slots() const { return stormcell::moved_slots(start_, placement()); }
size_t EditedPlacement::empty_slots() const { return state_->edit->empty_slots(); }

std::string EditedPlacement::swap_fault(size_t layer, size_t slot, size_t other) const {
  return state_->edit->swap_fault(layer, slot, other);
}
std::string EditedPlacement::replicate_fault(size_t layer, int32_t branch, size_t slot) const {
  return state_->edit->replicate_fault(layer, branch, slot);
}
std::string EditedPlacement::drop_fault(size_t layer, size_t slot) const {
  return state_->edit->drop_fault(layer, slot);
}
void EditedPlacement::apply(const PlacementChange& change) { state_->edit->apply(change); }

FoundLayout EditedPlacement::solve(const std::string& solver, double time_limit, const Progress& progress) const {
  const auto begin = std::chrono::steady_clock::now();
  PlaceOptions options = state_->options;
  options.solver = solver, options.time_limit = time_limit;
  check_memory(state_->task);
  const SessionReader session(parse_session_path(options.session).file);
  const PlaceTask& task = state_->task;
  SolvedPlacement solved =
      judge_outcome(options, session, task, search_placement(options, task, progress), begin, progress);
  FoundLayout out{std::move(solved.placement), std::move(solved.figures), {}};
  for (const LayoutLine& line : out.figures.front)
    if (line.tried && line.fit.cross_pairs)
      out.front.push_back(
          {{line.name, line.fit.imbalance, *line.fit.cross_pairs}, solved.tried[*line.tried].placement});
  return out;
}

int64_t EditedPlacement::store(const Placement& placement, const std::string& name, const Progress& progress) const {
  size_t empty = 0;
  for (const LayerSlots& layer : placement.layers)
    empty += static_cast<size_t>(std::count(layer.begin(), layer.end(), -1));
  if (empty > 0)
    bad_input(about_.session, counted(static_cast<int64_t>(empty), "slot") + " of the placement hold nothing",
              "bring an expert into each");
  check_memory(state_->task);
  const auto begin = std::chrono::steady_clock::now();
  PlaceOptions options = state_->options;
  options.solver = kMadeByHand, options.name = name;
  const SessionReader session(parse_session_path(options.session).file);
  const PlaceTask& task = state_->task;
  SolvedPlacement solved = judge_outcome(options, session, task, given_outcome(task, placement), begin, progress);
  return store_solved(options, session, task, solved);
}

}  // namespace stormcell
