// What was measured, in one sentence, for every page and table that shows figures of time.
#pragma once
#include <string>
#include <string_view>

#include "core/summary/results.h"

namespace stormcell {

/// "profiled on 53 batches (every fourth), measured on the other 157, 9 rounds"; of what has no profile "measured on 12 of 40 batches, 9
/// rounds". With the fresh processes that measured again and what they took. Empty where the figures do not say.
std::string measured_text(const RunSummaryFigures& figures);
/// How often each guard is counted in a run of a phase: "once a batch"; of decoding "once a turn".
std::string guards_counted(std::string_view phase);

/// "5 measurings, between which it varies by 2.1 %", or that there is one.
std::string spread_text(const RunSummaryFigures& figures);
/// What the speed-up was estimated from, as words behind it: "of the time of all batches, a median over pairs". Older summaries say the
/// first half alone. With spread_text(), and which of its conditions nobody knows: "; not recorded: the load of other processes".
std::string speedup_basis_text(const RunSummaryFigures& figures);

}  // namespace stormcell
