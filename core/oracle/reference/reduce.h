// reduce, broadcast: between the cells of a dense or ragged space and their parents; argmax.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Element>
void reduce_rows(const std::vector<Element>& x, const CellGroups& groups, int64_t width, std::string_view mode, std::vector<Element>& y) {
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

template <class Element>
void broadcast_rows(const std::vector<Element>& x, const CellGroups& groups, int64_t width, std::vector<Element>& y) {
  for (int64_t p = 0; p < groups.parents; ++p)
    for (int64_t r = 0; r < groups.count(p); ++r) std::copy_n(x.data() + p * width, width, y.data() + (groups.begin(p) + r) * width);
}

template <class Scalar>
void broadcast(const Call<Scalar>& c) {
  const CellGroups groups = c.frame.groups(static_cast<SpaceId>(c.attributes().integer("space")));
  if (c.is_real(0)) {
    broadcast_rows(c.in(0).reals, groups, c.width(0), c.out().reals);
  } else {
    broadcast_rows(c.in(0).integers, groups, c.width(0), c.out().integers);
  }
}

template <class Scalar>
void argmax(const Call<Scalar>& c) {
  const int64_t width = c.width(0);
  for (int64_t r = 0; r < c.rows(0); ++r) {
    const Scalar* x = c.in(0).reals.data() + r * width;
    int64_t best = 0;
    for (int64_t i = 1; i < width; ++i)
      if (x[i] > x[best]) best = i;
    c.out().integers[static_cast<size_t>(r)] = static_cast<int32_t>(best);
  }
}

}  // namespace stormcell::reference
