// Whether two recordings are of the same requests, so that a difference of their choices can be explained token by token.
#pragma once
#include "core/comparison/summary_figures.h"

namespace stormcell {

/// True if both are recordings of choices, at least one of another program, of equally many requests whose first tokens
/// are the same, or, without token ids, of equally many cells.
bool of_the_same_requests(const SummaryFigures& a, const SummaryFigures& b);

}  // namespace stormcell
