// Chance as the JSON of verbs has it. Not for views and commands.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/chance/chance_figure.h"

namespace stormcell {

/// {middle, low, high}
nlohmann::ordered_json chance_json(const ChanceRange& range);
/// The same with p_value and beside.
nlohmann::ordered_json chance_json(const ChanceFigure& figure);

}  // namespace stormcell
