// Names of routers as short as they can be told apart.
#pragma once
#include <QString>
#include <vector>

#include "core/readings/session_view.h"

namespace stormcell::views {

/// "encoder.block.1.layer.1.mlp" of a stack of such names -> what tells it from the others: "block.1"; exits are
/// "exit 1", "exit 2" in their order. `routers`: all exits that there are, or none.
std::vector<QString> short_names(const std::vector<RouterLine>& routers);

}  // namespace stormcell::views
