// Upper bound of a share, given a count.
#pragma once
#include <cstdint>

namespace stormcell {

/// The largest share for which `hits` or fewer of `of` independent draws are hits in 5 % of all cases: the exact upper
/// bound at 95 % (Clopper and Pearson 1934). `of` is at least 1; returns 1 if all are hits.
double binomial_upper_bound(int64_t hits, int64_t of);

}  // namespace stormcell
