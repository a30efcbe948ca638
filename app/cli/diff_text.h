// The result of diff as text.
#pragma once
#include <string>

#include "core/difference/difference.h"

namespace stormcell::cli {

/// The verdict first; at most 60 lines.
std::string difference_text(const DifferenceFigures& figures);

}  // namespace stormcell::cli
