#include "core/planning/deployment.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/json_file.h"
#include "core/planning/place_task.h"
#include "core/readings/session_lookup.h"
#include "core/traces/slot_loads.h"

namespace stormcell {
namespace {

struct MadeFrom {
  std::string session;
  RunSummary run;
  RunLayout layout;
  LayerLoads loads;
  std::string model_doubt;
};

/// The session and run that the placement was made from; nothing if nobody says.
std::optional<SessionPath> named_origin(const std::string& made_from, const std::string& from) {
  if (!made_from.empty()) return parse_session_path(made_from);
  if (from.empty() || !is_session(from)) return {};
  SessionPath path = parse_session_path(from);
  path.run = std::to_string(SessionReader(path.file).find_placement(path.run).run);
  return path;
}

MadeFrom read_origin(const SessionPath& path, const SessionReader& recorded, const PlaceTask& task) {
  const SessionReader session(path.file);
  MadeFrom origin{path.file, choose_recorded_run(session, path.run), {}, {}, {}};
  origin.layout = session.layout(origin.run.id);
  const auto& ours = task.layout.routers;
  const auto& theirs = origin.layout.routers;
  const bool alike =
      std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), [](const RouterInfo& a, const RouterInfo& b) {
        return a.branches == b.branches && (a.layer < 0 || b.layer < 0 || a.layer == b.layer);
      });
  if (!alike)
    bad_input("--made-from",
              path.file + "#" + std::to_string(origin.run.id) + " has " + counted(std::ssize(theirs), "layer") +
                  (theirs.empty() ? std::string() : " of " + counted(theirs[0].branches, "expert")) +
                  ", the recorded run " + std::to_string(ours.size()) + " of " + std::to_string(task.branches) +
                  (theirs.size() == ours.size() ? ", or others" : ""),
              "name the run that the placement was made from");
  origin.model_doubt =
      doubt_of_model(recorded, task, session, origin.run, path.file + "#" + std::to_string(origin.run.id),
                     "name the run that the placement was made from");
  origin.loads = read_split_loads(session, origin.run.id, origin.layout, task.phase, 1, {}).fit;
  return origin;
}

/// Each GPU holds the same experts, in whichever slots.
bool as_placed(const LayerSlots& placed, const std::vector<int32_t>& recorded, int32_t ranks) {
  if (placed.size() != recorded.size()) return false;
  const auto slots_per_rank = std::ssize(placed) / ranks;
  for (auto begin = std::ptrdiff_t{0}; begin < std::ssize(placed); begin += slots_per_rank)
    if (!std::is_permutation(placed.begin() + begin, placed.begin() + begin + slots_per_rank, recorded.begin() + begin))
      return false;
  return true;
}

/// The reason why the slots' shares are not known; empty: they are.
std::string why_not_slots(const RecordedSlots& slots, const PlaceTask& task) {
  if (slots.layers.size() != task.before.layers.size())
    return "the recording does not say what each slot got, or experts moved while it was made";
  if (task.phase) return "slots were counted over all phases";
  if (slots.ranks > 0 && slots.ranks != task.shape.ranks)
    return "it was recorded on " + counted(slots.ranks, "GPU") + ", not on " + std::to_string(task.shape.ranks);
  for (size_t l = 0; l < slots.layers.size(); ++l)
    if (!as_placed(task.before.layers[l], slots.layers[l].expert, task.shape.ranks))
      return "it was recorded under another placement: in " + task.layout.routers[l].name +
             " other experts are on a GPU";
  return {};
}

double imbalance_of_slots(const std::vector<int64_t>& load, int32_t ranks) {
  std::vector<double> of_rank(ranks);
  const size_t slots_per_rank = load.size() / of_rank.size();
  for (size_t s = 0; s < load.size(); ++s) of_rank[s / slots_per_rank] += static_cast<double>(load[s]);
  return imbalance_of_ranks(of_rank);
}

}  // namespace

std::optional<DeploymentFigures> compare_deployment(const std::string& made_from, const std::string& from,
                                                    const SessionReader& session, const PlaceTask& task) {
  const std::optional<SessionPath> path = named_origin(made_from, from);
  if (!path) return {};
  const MadeFrom origin = read_origin(*path, session, task);
  std::error_code error;
  if (origin.run.id == task.run.id && std::filesystem::equivalent(path->file, session.path(), error)) {
    if (made_from.empty()) return {};
    bad_input("--made-from", made_from + " is the recorded run itself",
              "name the run that the placement was made from");
  }
  const RecordedSlots slots = slots_at(json_or_null(task.run.dataset));
  DeploymentFigures f{origin.session, origin.run.id, {}, {}, why_not_slots(slots, task), slots.ranks > 0, {}};
  if (!made_from.empty()) f.model_doubt = origin.model_doubt;  // the task has it for `from`
  if (f.why_not.empty()) f.mean.recorded = 0;
  const double layers = task.before.layers.size();
  for (size_t l = 0; l < task.before.layers.size(); ++l) {
    const auto of_loads = [&](const LayerLoads& loads) {
      return imbalance_of_ranks(loads_of_ranks(task.before.layers[l], task.shape.ranks, loads[l]));
    };
    DeployedBalance b{of_loads(origin.loads), of_loads(task.loads.fit), {}};
    if (f.why_not.empty())
      b.recorded = imbalance_of_slots(slots.layers[l].load, task.shape.ranks), *f.mean.recorded += *b.recorded / layers;
    f.mean.predicted += b.predicted / layers, f.mean.shared_evenly += b.shared_evenly / layers;
    f.layers.push_back({task.layout.routers[l].name, task.layer_numbers[l], b});
  }
  return f;
}

}  // namespace stormcell
