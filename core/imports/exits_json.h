// Figures of exits from recorders, as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "core/traces/traced_exits.h"

namespace stormcell {

/// An object for each trace: its items, those with a label, and a list of its exits. Unknown values are null.
nlohmann::ordered_json json_of(const std::vector<TracedExits>& traces);

}  // namespace stormcell
