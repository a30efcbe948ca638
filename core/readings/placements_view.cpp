#include "core/readings/placements_view.h"

#include <nlohmann/json.hpp>

#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

PlacementFigures figures_in(const Json& f) {
  return {real_at(f, "imbalance"), known_at(f, "cross_pairs"), known_at(f, "ranks_per_token"),
          known_at(f, "objective")};
}

std::vector<PlacementLayoutLine> lines_in(const Json& list) {
  std::vector<PlacementLayoutLine> lines;
  for (const Json& line : list) {
    if (!value_at(line, "fit").is_object()) continue;
    lines.push_back({text_at(line, "name"), figures_in(value_at(line, "fit")), {}});
    if (value_at(line, "held_out").is_object()) lines.back().held_out = figures_in(value_at(line, "held_out"));
  }
  return lines;
}

std::optional<PlacementDifference::Interval> interval_in(const Json& of, const char* key) {
  const Json& difference = value_at(of, key);
  const Json& ends = list_at(difference, "ci95");
  if (ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) return {};
  return PlacementDifference::Interval{real_at(difference, "value"), ends[0].get<double>(), ends[1].get<double>()};
}

PlacementBasis basis_in(const Json& json) {
  const Json& steps = value_at(json, "steps");
  const Json& costed = value_at(json, "costed_steps");
  PlacementBasis basis;
  basis.phase = text_at(json, "phase"), basis.unit = text_at(json, "unit");
  basis.held_out = value_of_word<HeldOutBy>(kHeldOutBy, text_at(json, "held_out"));
  basis.fitted = whole_at(steps, "fit"), basis.judged = whole_at(steps, "held_out");
  basis.backend = text_at(json, "backend"), basis.step_kind = text_at(costed, "kind");
  basis.replicas = file_word<ReplicaRule>(kReplicaRules, text_at(json, "replicas"));
  basis.residence = file_word<Residence>(kResidences, text_at(json, "residence"));
  basis.statistic = value_of_word<StepStatistic>(kStepStatistics, text_at(costed, "statistic"));
  basis.tokens_per_step = whole_at(costed, "tokens_per_step"), basis.amortise = whole_at(costed, "amortise");
  basis.sizes = text_at(value_at(json, "sizes"), "source"),
  basis.calibration = text_at(value_at(json, "calibration"), "file");
  return basis;
}

}  // namespace

PlacementOfRun parse_place_summary(const std::string& text) {
  const Json json = json_or_null(text);
  PlacementOfRun out;
  const Json& cluster = value_at(json, "cluster");
  out.cluster = text_at(cluster, "name");
  out.nodes = static_cast<int32_t>(whole_at(cluster, "nodes")),
  out.ranks = static_cast<int32_t>(whole_at(cluster, "ranks"));
  out.slot_count = static_cast<int32_t>(whole_at(json, "slots"));
  out.advice = text_at(json, "advice"), out.moved_slots = whole_at(json, "moved_slots");
  out.layouts = lines_in(list_at(json, "layouts")), out.front = lines_in(list_at(json, "front"));
  for (const Json& d : list_at(json, "differences")) {
    out.drawn = text_at(d, "drawn");
    out.differences.push_back({text_at(d, "of"), text_at(d, "from"), interval_in(d, "imbalance"),
                               interval_in(d, "cross_pairs"), interval_in(d, "ranks_per_token"),
                               interval_in(d, "objective")});
  }
  out.basis = basis_in(json);
  for (const Json& w : list_at(json, "warnings"))
    if (w.is_string()) out.warnings.push_back(w.get<std::string>());
  return out;
}

}  // namespace stormcell
