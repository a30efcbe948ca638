// The choices that a capacity drops, as every surface words them.
#pragma once
#include <string>

namespace stormcell {

/// "by a capacity factor of 1.25: not lossless, the model would answer differently"; the latter where anything is
/// dropped.
std::string capacity_text(double factor, double dropped_share);

}  // namespace stormcell
