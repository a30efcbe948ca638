// What what-if prints: five lines of conclusion, then what the branches got.
#pragma once
#include <string>

#include "core/summary/what_if.h"

namespace stormcell::cli {

std::string to_text(const WhatIfFigures& figures, bool verbose);

}  // namespace stormcell::cli
