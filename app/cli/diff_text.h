// The result of diff as a page.
#pragma once
#include "app/cli/page.h"
#include "core/difference/difference.h"

namespace stormcell::cli {

/// The verdict first.
Page difference_page(const DifferenceFigures& figures);

}  // namespace stormcell::cli
