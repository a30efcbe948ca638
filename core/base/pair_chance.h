// The definition of pairs of branches expected by chance, which lift is relative to.
#pragma once

namespace stormcell {

/// Two routers have `pairs` pairs of branches in common; one branch is in `from` of them, the other in `to`: in how
/// many both would be by chance.
inline double following_by_chance(double from, double to, double pairs) { return pairs > 0 ? from * to / pairs : 0; }

/// The same of two branches that cells got from one router, each in so many of `pairs`: one is drawn by these numbers,
/// then another one, and never the same twice.
inline double together_by_chance(double one, double other, double pairs) {
  const double ends = 2 * pairs;
  return pairs > 0 ? pairs * one * other / ends * (1 / (ends - one) + 1 / (ends - other)) : 0;
}

}  // namespace stormcell
