// Tokens a second of a simulated step. They are stated only if more than the rates of data sheets supports them.
#pragma once
#include "simulator/simulate_figures.h"

namespace stormcell {

/// Sets `tokens_per_s` or `why_no_tokens_per_s`. A step from rates of data sheets, without attention, norms and
/// sampling, is several times too short, so no rate is stated from it. The figures must have their times, rest and
/// trust.
void state_rate(SimulateFigures& figures);

}  // namespace stormcell
