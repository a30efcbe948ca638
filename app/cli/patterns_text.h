// The pages of patterns and saturation.
#pragma once
#include "app/cli/page.h"
#include "core/patterns/patterns.h"
#include "core/patterns/saturation.h"

namespace stormcell::cli {

Page patterns_page(const PatternFigures& figures);
Page saturation_page(const SaturationFigures& figures);

}  // namespace stormcell::cli
