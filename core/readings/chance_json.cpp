#include "core/readings/chance_json.h"

#include <nlohmann/json.hpp>

namespace stormcell {

nlohmann::ordered_json chance_json(const ChanceRange& range) {
  return {{"middle", range.middle}, {"low", range.low}, {"high", range.high}};
}

nlohmann::ordered_json chance_json(const ChanceFigure& figure) {
  nlohmann::ordered_json json = chance_json(figure.range);
  json["p_value"] = figure.p_value, json["beside"] = to_text(figure.beside);
  return json;
}

}  // namespace stormcell
