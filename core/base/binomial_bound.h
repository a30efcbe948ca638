// What a count says about a share.
#pragma once
#include <cstdint>

namespace stormcell {

/// The largest share of which `hits` of `of` independent draws, or fewer, are still seen in 5 % of all cases: the exact
/// upper bound at 95 % (Clopper and Pearson 1934). `of` is at least 1; 1 where all are hits.
double binomial_upper_bound(int64_t hits, int64_t of);

}  // namespace stormcell
