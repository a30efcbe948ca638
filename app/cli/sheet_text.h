// The sheet of a model as inspect prints it.
#pragma once
#include <string>

#include "core/summary/sheet_figures.h"

namespace stormcell::cli {

std::string to_text(const ModelSheet& sheet);

}  // namespace stormcell::cli
