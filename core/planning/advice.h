// Which of the layouts to take: staying and the EPLB rule are right more often than a search likes to say.
#pragma once
#include <string>
#include <vector>

#include "core/planning/place.h"

namespace stormcell {

/// Of contiguous, eplb and result, in this order: "stay: ...", "eplb: ..." or "result: ...", by what was held out, else by what was fitted.
/// By the cost of steps where it is known; else by balance, and traffic where it is about as even.
std::string advice_of(const std::vector<LayoutLine>& layouts);

}  // namespace stormcell
