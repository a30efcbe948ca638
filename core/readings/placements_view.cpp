#include "core/readings/placements_view.h"

#include <nlohmann/json.hpp>

#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

std::optional<double> known(const Json& of, const char* key) {
  return value_at(of, key).is_number() ? std::optional(real_at(of, key)) : std::nullopt;
}

PlacementFigures figures_in(const Json& f) {
  return {real_at(f, "imbalance"), known(f, "cross_pairs"), known(f, "ranks_per_token"), known(f, "objective")};
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

}  // namespace

PlacementOfRun parse_place_summary(const std::string& text) {
  const Json json = json_or_null(text);
  PlacementOfRun out;
  const Json& cluster = value_at(json, "cluster");
  out.cluster = text_at(cluster, "name");
  out.nodes = static_cast<int32_t>(whole_at(cluster, "nodes")), out.ranks = static_cast<int32_t>(whole_at(cluster, "ranks"));
  out.slot_count = static_cast<int32_t>(whole_at(json, "slots"));
  out.advice = text_at(json, "advice"), out.moved_slots = whole_at(json, "moved_slots");
  out.layouts = lines_in(list_at(json, "layouts")), out.front = lines_in(list_at(json, "front"));
  return out;
}

}  // namespace stormcell
