// The correspondence of the pixels of a picture and of its patches, for unfold and fold.
#pragma once
#include "core/graph/patch_grid.h"
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

/// Calls visit(picture element, patch element, run) for each row of pixels of each patch: `run` numbers are contiguous
/// in both.
template <class Visit>
void for_each_patch_row(const PatchGrid& grid, const CellGroups& groups, int64_t channels, Visit visit) {
  const int64_t run = grid.patch_width * channels;
  for (int64_t p = 0; p < groups.parents; ++p)
    for (int64_t i = 0; i < grid.rows(); ++i)
      for (int64_t j = 0; j < grid.columns(); ++j)
        for (int64_t y = 0; y < grid.patch_height; ++y) {
          const int64_t patch = groups.begin(p) + i * grid.columns() + j;
          const int64_t in_picture = (p * grid.height + grid.top(i) + y) * grid.width + grid.left(j);
          visit(in_picture * channels, (patch * grid.patch_height + y) * run, run);
        }
}

}  // namespace stormcell::reference
