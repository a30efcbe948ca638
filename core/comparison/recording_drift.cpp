#include "core/comparison/recording_drift.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/readings/lacks.h"
#include "core/readings/read_token_routes.h"
#include "core/readings/same_model.h"

namespace stormcell {
namespace {

std::vector<int32_t> branches_of(const RunLayout& layout) {
  std::vector<int32_t> branches;
  for (const RouterInfo& r : layout.routers) branches.push_back(r.branches);
  return branches;
}

/// Loads without padding of blocks of batches: block i ends where the next one begins. `begins`: first batch of each
/// block, and the end of the last.
std::vector<BlockLoads> blocks_of_batches(const Recording& recording, const std::vector<int64_t>& begins) {
  const std::vector<int32_t> branches = branches_of(recording.layout);
  const auto width = std::accumulate(branches.begin(), branches.end(), size_t{0});
  std::vector<BlockLoads> blocks(begins.size() - 1, BlockLoads(width));
  size_t first = 0;
  for (size_t r = 0; r < branches.size(); first += static_cast<size_t>(branches[r++]))
    for (size_t b = 0; b < blocks.size(); ++b)
      for (const RouterLoads& step :
           recording.reader.loads(recording.run.id, static_cast<int32_t>(r), 0, {begins[b], begins[b + 1]}))
        for (size_t i = 0; i < step.load.size(); ++i) blocks[b][first + i] += step.load[i] - step.padding[i];
  return blocks;
}

/// `blocks` blocks, whose numbers of batches differ by at most one.
std::vector<BlockLoads> equal_blocks(const Recording& recording, int64_t blocks) {
  std::vector<int64_t> begins;
  for (int64_t b = 0; b <= blocks; ++b) begins.push_back(b * recording.run.batches / blocks);
  return blocks_of_batches(recording, begins);
}

int64_t recorded_choices(const Recording& recording) {
  int64_t choices = 0;
  for (size_t r = 0; r < recording.layout.routers.size(); ++r)
    for (const int64_t cells : recording.reader.total_loads(recording.run.id, static_cast<int32_t>(r)).real())
      choices += cells;
  return choices;
}

bool has_order(const Recording& recording) {
  const std::vector<std::string> lacks = lacks_of_import(recording.run);
  return std::find(lacks.begin(), lacks.end(), "order") == lacks.end();
}

}  // namespace

nlohmann::ordered_json drift_json(const std::optional<DriftFigures>& drift) {
  if (!drift) return nullptr;
  return {{"total_variation", drift->distance},
          {"by_chance", drift->expected},
          {"by_chance_middle", drift->by_chance.middle},
          {"by_chance_low", drift->by_chance.low},
          {"by_chance_high", drift->by_chance.high},
          {"p_value", drift->p_value},
          {"confidence", 1 - drift->p_value},
          {"blocks", drift->blocks}};
}

std::optional<DriftFigures> figures_of(const std::optional<Drift>& drift) {
  if (!drift) return {};
  return DriftFigures{
      drift->distance, drift->expected, drift->p_value, drift->blocks, {drift->middle, drift->low, drift->high}};
}

std::optional<DriftFigures> drift_of_counts(const Recording& recording, const Progress& progress) {
  constexpr int64_t kMostCounts = int64_t{1} << 26;  // 512 MiB of blocks
  const std::vector<int32_t> branches = branches_of(recording.layout);
  const int64_t each = steps_of_block(recording.run.batches);
  std::vector<int64_t> begins;
  for (int64_t b = 0; b < recording.run.batches; b += each) begins.push_back(b);
  if (std::ssize(begins) * std::accumulate(branches.begin(), branches.end(), int64_t{0}) > kMostCounts) return {};
  begins.push_back(recording.run.batches);
  return figures_of(drift_of(blocks_of_batches(recording, begins), branches, progress));
}

std::string check_same_routers(const Recording& recording, const Recording& other) {
  const RoutedModel a = recording.model(), b = other.model();
  check_like_models(a, b);
  if (!have_like_routers(a, b))
    bad_input(other.name(),
              "has other routers than " + recording.name() + ": " + shape_text(b) + " and not " + shape_text(a),
              "name a run whose plan leaves the same routers");
  if (same_model(a, b) == SameModel::yes) return {};
  return model_doubt_text(other.name(), b.model, other.run, a.model, recording.run);
}

AgainstFigures drift_against(const Recording& recording, const TokenRoutes* routes, const Recording& other,
                             const Progress& progress) {
  AgainstFigures figures{other.path.file, other.run.id, other.run.status, other.run.batches};
  for (const Recording* r : {&recording, &other})
    if (!has_order(*r)) {
      figures.why_not = r->name() + " lacks the order of its steps";
      return figures;
    }
  std::optional<TokenRoutes> of_other;
  if (routes && other.reader.has_decisions(other.run.id) && recorded_choices(other) <= kMostChoicesUnasked)
    of_other = read_token_routes(other.reader, other.run, progress);
  const bool by_choice = of_other && of_other->layers == routes->layers && of_other->branches == routes->branches;
  const bool decoding = by_choice && decodes_any(*routes) && decodes_any(*of_other);
  const int64_t steps = by_choice ? judged_steps(*routes, decoding) : recording.run.batches,
                steps_of_other = by_choice ? judged_steps(*of_other, decoding) : other.run.batches,
                blocks = blocks_of_each(steps, steps_of_other);
  if (blocks == 0) {
    figures.why_not = "too few steps: " + recording.name() + " has " + counted(steps, "step") + ", " + other.name() +
                      " " + counted(steps_of_other, "step") + ", and at least 16 are needed";
    return figures;
  }
  if (by_choice) {
    const std::vector<int32_t> branches(routes->layers, routes->branches);
    figures.drift = figures_of(drift_between(blocks_of(*routes, decoding, blocks),
                                             blocks_of(*of_other, decoding, blocks), branches, progress));
  } else {
    figures.drift = figures_of(drift_between(equal_blocks(recording, blocks), equal_blocks(other, blocks),
                                             branches_of(recording.layout), progress));
  }
  return figures;
}

}  // namespace stormcell
