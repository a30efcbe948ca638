#include <nlohmann/json.hpp>

#include "core/exports/csv_row.h"
#include "core/patterns/saturation.h"
#include "core/readings/chance_json.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using SaturationJson = nlohmann::ordered_json;

SaturationJson json_of_point(const SaturationPoint& p, const std::string& name, bool judged) {
  SaturationJson json = {{"checkpoint", name},
                         {"cells", p.cells},
                         {"share", or_null(p.share)},
                         {"first_share", or_null(p.first_share)},
                         {"by_load", or_null(p.by_load)},
                         {"chance", nullptr}};
  if (p.share && judged) {
    json["chance"] = chance_json(p.chance);
    json["chance"]["method"] = to_text(ChanceMethod::closed_form);
    json["beyond"] = p.beyond;
  } else if (p.share) {
    json["chance"] = {{"middle", p.chance.range.middle}, {"method", to_text(ChanceMethod::closed_form)}};
  }
  return json;
}

SaturationJson json_of_points(const std::vector<SaturationPoint>& points, const std::vector<std::string>& names,
                              bool judged) {
  SaturationJson list = SaturationJson::array();
  for (size_t i = 0; i < points.size(); ++i) list.push_back(json_of_point(points[i], names[i], judged));
  return list;
}

std::string cell_or_empty(const std::optional<double>& value) { return value ? csv_cell(*value) : std::string(); }

}  // namespace

std::string to_json(const SaturationFigures& f) {
  SaturationJson json = json_of_verb("saturation");
  json["checkpoints"] = SaturationJson::array();
  for (size_t i = 0; i < f.names.size(); ++i)
    json["checkpoints"].push_back({{"name", f.names[i]}, {"recording", f.recordings[i]}});
  json["cells"] = f.cells;
  json["by_tokens"] = f.by_tokens;
  json["all"] = json_of_points(f.all, f.names, false);
  json["routers"] = SaturationJson::array();
  for (const SaturationRouter& r : f.routers)
    json["routers"].push_back({{"router", r.router},
                               {"layer", r.layer < 0 ? SaturationJson() : SaturationJson(r.layer)},
                               {"branches", r.branches},
                               {"k", r.k},
                               {"points", json_of_points(r.points, f.names, true)}});
  json["warnings"] = f.warnings;
  return json_text(json);
}

std::string saturation_table_text(const SaturationFigures& f) {
  std::string text = "# stormcell " STORMCELL_VERSION "; " + f.origin + "; saturation\n" +
                     "router,layer,checkpoint,cells,share,first_share,by_load,even,even_low,even_high,beyond_chance\n";
  for (const SaturationRouter& r : f.routers)
    for (size_t i = 0; i < r.points.size(); ++i) {
      const SaturationPoint& p = r.points[i];
      text += csv_row(r.router, r.layer < 0 ? std::string() : std::to_string(r.layer), f.names[i], p.cells,
                      cell_or_empty(p.share), cell_or_empty(p.first_share), cell_or_empty(p.by_load),
                      p.chance.range.middle, p.chance.range.low, p.chance.range.high, int32_t{p.beyond}) +
              "\n";
    }
  return text;
}

}  // namespace stormcell
