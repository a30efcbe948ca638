// The cost of padding, in one sentence for every page and table that shows it: counted cells, and a speed only if it
// was measured.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell {

/// "46 % of the cells as given are padding (83,786 cells, 45,336 of them real); batches of like length would compute
/// 47,012; the pass unpad computes the real ones alone: 1.58x the speed [1.55, 1.6], measured"; "no measurable
/// difference in speed [0.97, 1.02]" where the interval holds 1. Empty where nothing is padded or the figures do not
/// say.
std::string padding_text(const RunSummaryFigures& figures);

/// The optimised plan computes real cells alone: a pass that leaves padding out was applied and stayed.
bool leaves_padding_out(const RunSummaryFigures& figures);

}  // namespace stormcell
