// reduce: sum, mean or last of the cells of each parent.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Element>
void reduce_rows(const std::vector<Element>& x, const CellGroups& groups, int64_t width, std::string_view mode,
                 std::vector<Element>& y) {
  for (int64_t p = 0; p < groups.parents; ++p) {
    const int64_t length = groups.count(p);
    if (length == 0) continue;
    const Element* rows = x.data() + groups.begin(p) * width;
    Element* to = y.data() + p * width;
    if (mode == "last") {
      std::copy_n(rows + (length - 1) * width, width, to);
      continue;
    }
    for (int64_t r = 0; r < length; ++r)
      for (int64_t i = 0; i < width; ++i) to[i] += rows[r * width + i];
    if (mode == "mean")
      for (int64_t i = 0; i < width; ++i) to[i] /= static_cast<Element>(length);
  }
}

template <class Scalar>
void reduce(const Call<Scalar>& c) {
  const CellGroups groups = c.frame.groups(c.type(0).space);
  const std::string& mode = c.attributes().word("mode");
  if (c.is_real(0)) {
    reduce_rows(c.in(0).reals, groups, c.width(0), mode, c.out().reals);
  } else {
    reduce_rows(c.in(0).integers, groups, c.width(0), mode, c.out().integers);
  }
}

}  // namespace stormcell::reference
