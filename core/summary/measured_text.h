// The measurement in one sentence, for every page and table that shows figures of time.
#pragma once
#include <string>
#include <string_view>

#include "core/summary/results.h"

namespace stormcell {

/// "profiled on 53 batches (every fourth), measured on the other 157, 9 rounds"; without a profile "measured on 12 of
/// 40 batches, 9 rounds". It includes the fresh processes that measured again and their time. Empty if the figures do
/// not have them.
std::string measured_text(const RunSummaryFigures& figures);
/// How often each guard is counted in a run of a phase: "once a batch"; of decoding "once a turn".
std::string guards_counted(std::string_view phase);

/// "5 measurements, between which it varies by 2.1 %", or a note that there is only one.
std::string spread_text(const RunSummaryFigures& figures);
/// The basis of the speed-up, in words that follow it: "of the time of all batches, a median over pairs". Older
/// summaries have only the first half. It includes spread_text() and the conditions that are not known: "; not
/// recorded: the load of other processes".
std::string speedup_basis_text(const RunSummaryFigures& figures);

}  // namespace stormcell
