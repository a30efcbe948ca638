// scatter: the rows of the cells that go to each branch.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void scatter(const Call<Scalar>& c) {
  const DecisionView& d = c.decision(1);
  const auto& spaces = c.attributes().list("spaces");
  for (size_t i = 0; i < spaces.size(); ++i) {
    const int32_t branch = c.graph().space(SpaceId(spaces[i])).branch;
    const int32_t first = branch == kAllBranches ? 0 : d.offsets[branch],
                  end = d.offsets[branch == kAllBranches ? d.branches : branch + 1];
    const int64_t width = c.width(0);
    for (int32_t s = first; s < end; ++s) {
      const auto from = d.cell[s] * width, to = (s - first) * width;
      if (c.is_real(0)) {
        std::copy_n(c.in(0).reals.data() + from, width, c.out(i).reals.data() + to);
      } else {
        std::copy_n(c.in(0).integers.data() + from, width, c.out(i).integers.data() + to);
      }
    }
  }
}

}  // namespace stormcell::reference
