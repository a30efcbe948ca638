// Tokens a second of a simulated step: stated only where more than the rates of data sheets is behind it.
#pragma once
#include "simulator/simulate.h"

namespace stormcell {

/// Sets `tokens_per_s`, or `why_no_tokens_per_s`. A step of data sheets' rates without attention, norms and sampling is several times too
/// short, and so no rate follows from it. The figures have their times, their rest and their trust.
void state_rate(SimulateFigures& figures);

}  // namespace stormcell
