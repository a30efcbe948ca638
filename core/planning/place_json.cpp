#include <nlohmann/json.hpp>

#include "core/planning/place_fields.h"
#include "core/summary/field_writer.h"

namespace stormcell {

std::string to_json(const PlaceFigures& figures) { return json_text(fields_json(figures)); }
std::string to_json(const PhasePlacements& placements) { return json_text(fields_json(placements)); }

}  // namespace stormcell
