// state_put: writes rows into a state from a place on. A state is a plain tensor that nobody frees.
#pragma once
#include "core/oracle/reference/frame.h"
#include "core/runtime/put_range.h"

namespace stormcell::reference {

template <class Scalar>
void state_put(const Call<Scalar>& c) {
  const Bindings& bindings = c.frame.bindings();
  const CellSpace &kept = c.graph().space(c.type(0).space), &rows = c.graph().space(c.type(1).space);
  const int64_t length = kept.per_parent.evaluate(bindings), count = rows.per_parent.evaluate(bindings), width = c.width(0);
  int64_t at = 0;
  if (const auto i = extra_input(c.node, "at", 2)) at = c.scalar(*i);
  expect_places(c.node.name, length, count, at);
  for (int64_t p = 0; p < c.frame.rows(kept.parent); ++p) {
    const int64_t from = p * count * width, to = (p * length + at) * width;
    if (c.is_real(0)) {
      std::copy_n(c.in(1).reals.data() + from, count * width, c.in(0).reals.data() + to);
    } else {
      std::copy_n(c.in(1).integers.data() + from, count * width, c.in(0).integers.data() + to);
    }
  }
}

}  // namespace stormcell::reference
