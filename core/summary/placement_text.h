// How the cores of the threads lay to each other, in words.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell {

/// "two cores, one L3", or "changing cores (mostly two cores, one L3; also two hyper-threads of one core)"; empty: not
/// known.
std::string placement_text(const DeviceFigures& device);

}  // namespace stormcell
