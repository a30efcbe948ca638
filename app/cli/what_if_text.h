// The page of what-if: five conclusions, then the loads of the branches.
#pragma once
#include <string>

#include "app/cli/page.h"
#include "core/exports/replay_file.h"
#include "core/summary/what_if.h"

namespace stormcell::cli {

Page page_of(const WhatIfFigures& figures, bool verbose);
/// The page of a recording: what was written, for whom, and how that program is given it.
Page page_of(const ReplayFigures& figures, bool verbose);

}  // namespace stormcell::cli
