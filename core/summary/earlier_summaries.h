// Values that earlier versions stored only within a sentence. They are taken out of it once, when a summary is read, so
// that no rule depends on words.
#pragma once
#include "core/summary/results.h"

namespace stormcell {

/// Sets values that the writer of the summary did not store: the load of other processes, and the reasons of passes
/// without the speeds that they quote. Does nothing to a summary of this version.
void complete_earlier_summary(RunSummaryFigures& figures);

}  // namespace stormcell
