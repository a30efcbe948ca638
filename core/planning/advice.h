// Advice on the layout to take: staying and the EPLB rule are right more often than a search likes to say.
#pragma once
#include <string>

#include "core/planning/place_figures.h"

namespace stormcell {

/// Recommends a layout: "stay: ..." (that of `from`, else the contiguous one), "eplb: ..." or "result: ...". Judges by
/// the held-out data if there is any, else by the fitted data. Compares the cost of steps if it is known and was the
/// aim; else balance, and traffic if balance is about as even and steps are not known to be dearer. Says so if the
/// difference may be chance.
std::string advice_of(const PlaceFigures& figures);

}  // namespace stormcell
