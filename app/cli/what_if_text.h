// The text of what-if: five lines of conclusion, then the loads of the branches.
#pragma once
#include <string>

#include "core/summary/what_if.h"

namespace stormcell::cli {

std::string to_text(const WhatIfFigures& figures, bool verbose);

}  // namespace stormcell::cli
