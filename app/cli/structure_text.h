// Text of inspect on a model.
#pragma once
#include <string>

#include "app/cli/page.h"
#include "core/summary/results.h"

namespace stormcell::cli {

Page page_of(const ModelStructure& structure, bool verbose);

}  // namespace stormcell::cli
