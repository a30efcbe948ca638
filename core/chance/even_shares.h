// Shares of cells and choices that even routers give, in closed form: agreement of two recordings, cells of a label at
// one branch, and what a label tells about the branch.
#pragma once
#include <cstdint>

#include "core/chance/chance_figure.h"

namespace stormcell {

/// Cells of one router, and the choices of each: `earlier` and `last` of `branches`. The earlier router chooses evenly
/// and knows nothing of the last one.
struct EvenAgreement {
  int64_t cells = 0;
  double earlier = 1, last = 1;  ///< mean choices of a cell
  int32_t branches = 1;
};

/// Share of the last recording's choices that the earlier one has: the middle is earlier / branches. Sums of
/// hypergeometric counts are normal here, so few cells (below 20) have ranges that are only near.
ChanceFigure agreement_beside_chance(const EvenAgreement& even, double share);

/// Share of `cells` that one branch gets: the middle is k / branches, the uniform line of published figures. `count`:
/// cells that it got. The p-value is that of the binomial, on both sides.
ChanceFigure branch_beside_uniform(int64_t count, int64_t cells, int32_t k, int32_t branches);

/// Mutual information in bits of a table [labels, branches] with as many choices, if labels tell nothing. `labels`:
/// those with choices. Follows from the chi-square statistic, whose mean a router that gives a cell k different
/// branches has times (branches - k) / (branches - 1).
ChanceFigure label_bits_beside_chance(int64_t choices, int64_t labels, int32_t branches, int32_t k, double bits);

}  // namespace stormcell
