// reduce, broadcast: between the cells of a dense space and their parents; argmax.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Element>
void reduce_rows(const std::vector<Element>& x, int64_t parents, int64_t length, int64_t width, std::string_view mode,
                 std::vector<Element>& y) {
  if (length == 0) return;
  for (int64_t p = 0; p < parents; ++p) {
    const Element* rows = x.data() + p * length * width;
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
  const CellSpace& space = c.graph().space(c.type(0).space);
  const int64_t length = space.per_parent.evaluate(c.frame.bindings()), parents = c.frame.rows(space.parent), width = c.width(0);
  const std::string& mode = c.attributes().word("mode");
  if (c.is_real(0)) {
    reduce_rows(c.in(0).reals, parents, length, width, mode, c.out().reals);
  } else {
    reduce_rows(c.in(0).integers, parents, length, width, mode, c.out().integers);
  }
}

template <class Element>
void broadcast_rows(const std::vector<Element>& x, int64_t parents, int64_t length, int64_t width, std::vector<Element>& y) {
  for (int64_t p = 0; p < parents; ++p)
    for (int64_t r = 0; r < length; ++r) std::copy_n(x.data() + p * width, width, y.data() + (p * length + r) * width);
}

template <class Scalar>
void broadcast(const Call<Scalar>& c) {
  const CellSpace& space = c.graph().space(static_cast<SpaceId>(c.attributes().integer("space")));
  const int64_t length = space.per_parent.evaluate(c.frame.bindings()), parents = c.rows(0);
  if (c.is_real(0)) {
    broadcast_rows(c.in(0).reals, parents, length, c.width(0), c.out().reals);
  } else {
    broadcast_rows(c.in(0).integers, parents, length, c.width(0), c.out().integers);
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
