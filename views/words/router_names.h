// The shortest distinct names of routers.
#pragma once
#include <QString>
#include <vector>

#include "core/readings/session_view.h"

namespace stormcell::views {

/// Shortens "encoder.block.1.layer.1.mlp" to the part that differs within its stack: "block.1"; exits are "exit 1",
/// "exit 2" in their order. `routers`: all exits that there are, or none.
std::vector<QString> short_names(const std::vector<RouterLine>& routers);

}  // namespace stormcell::views
