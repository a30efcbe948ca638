// unfold: pictures to overlapping patches, which are cells.
#pragma once
#include "core/oracle/reference/patch_rows.h"

namespace stormcell::reference {

template <class Scalar>
void unfold(const Call<Scalar>& c) {
  const CellGroups groups = c.frame.groups(SpaceId(c.attributes().integer("space")));
  for_each_patch_row(grid_of_unfold(c.graph(), c.node), groups, c.type(0).content[2].constant(),
                     [&](int64_t picture, int64_t patch, int64_t run) {
                       std::copy_n(c.in(0).reals.data() + picture, run, c.out().reals.data() + patch);
                     });
}

}  // namespace stormcell::reference
