// fold: patches to one picture, the mean where they overlap.
#pragma once
#include "core/oracle/reference/patch_rows.h"

namespace stormcell::reference {

template <class Scalar>
void fold(const Call<Scalar>& c) {
  const CellGroups groups = c.frame.groups(c.type(0).space);
  std::vector<Scalar>& pictures = c.out().reals;
  std::vector<Scalar> times(pictures.size(), Scalar(0));
  for_each_patch_row(grid_of_fold(c.graph(), c.node), groups, c.type(0).content[2].constant(),
                     [&](int64_t picture, int64_t patch, int64_t run) {
                       for (int64_t x = 0; x < run; ++x) {
                         pictures[picture + x] += c.in(0).reals[patch + x];
                         times[picture + x] += 1;
                       }
                     });
  for (size_t x = 0; x < pictures.size(); ++x) pictures[x] /= times[x];
}

}  // namespace stormcell::reference
