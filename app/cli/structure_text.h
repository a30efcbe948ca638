// Text of inspect on a model.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell::cli {

std::string to_text(const ModelStructure& structure, bool verbose);

}  // namespace stormcell::cli
