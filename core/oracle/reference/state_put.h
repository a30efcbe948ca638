// state_put: writes rows into a state, from each parent's place on. A state is a plain tensor that is never freed.
#pragma once
#include "core/oracle/reference/frame.h"
#include "core/runtime/state_rows.h"

namespace stormcell::reference {

template <class Scalar>
void state_put(const Call<Scalar>& c) {
  const CellGroups kept = c.frame.groups(c.type(0).space), rows = c.frame.groups(c.type(1).space);
  const int64_t width = c.width(0);
  const auto at_input = extra_input(c.node, "at");
  const auto at = [&](int64_t p) { return at_input ? int64_t{c.in(*at_input).integers[p]} : 0; };
  for (int64_t p = 0; p < rows.parents; ++p)
    if (const StepFailure failure = check_places(p, kept.count(p), rows.count(p), at(p)))
      throw_failure(c.node.name, failure);
  for (int64_t p = 0; p < rows.parents; ++p) {
    const int64_t count = rows.count(p), from = rows.begin(p) * width, to = (kept.begin(p) + at(p)) * width;
    if (c.is_real(0)) {
      std::copy_n(c.in(1).reals.data() + from, count * width, c.in(0).reals.data() + to);
      if (format_of(c.type(0).dtype).rounds_rows) round_to_bf16(c.in(0).reals.data() + to, count * width);
    } else {
      std::copy_n(c.in(1).integers.data() + from, count * width, c.in(0).integers.data() + to);
    }
  }
}

}  // namespace stormcell::reference
