// Text of generate.
#pragma once
#include <string>

#include "app/cli/page.h"
#include "core/summary/results.h"

namespace stormcell::cli {

Page page_of(const GenerateFigures& figures, bool verbose);

}  // namespace stormcell::cli
