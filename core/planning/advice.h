// Which of the layouts to take: staying and the EPLB rule are right more often than a search likes to say.
#pragma once
#include <string>

#include "core/planning/place_figures.h"

namespace stormcell {

/// Of contiguous, eplb and result, which are there, and what `from` says stands now: "stay: ...", "eplb: ..." or
/// "result: ...", by what was held out, else by what was fitted. By the cost of steps where it is known and was the
/// aim; else by balance, and traffic where it is about as even and steps are not known to be dearer. Where the
/// difference may be chance it says so.
std::string advice_of(const PlaceFigures& figures);

}  // namespace stormcell
