#include <nlohmann/json.hpp>

#include "core/summary/field_writer.h"
#include "simulator/simulate.h"
#include "simulator/simulate_fields.h"

namespace stormcell {

std::string to_json(const SimulateFigures& figures) { return json_text(fields_json(figures)); }

}  // namespace stormcell
