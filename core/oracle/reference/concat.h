// concat: values side by side, along the last extent.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void concat(const Call<Scalar>& c) {
  const int64_t last = c.graph().value(c.node.outputs[0]).type.content.back().constant();
  int64_t begin = 0;
  for (size_t i = 0; i < c.node.inputs.size(); ++i) {
    const int64_t width = c.type(i).content.back().constant(), runs = std::ssize(c.in(i).reals) / width;
    for (int64_t r = 0; r < runs; ++r)
      std::copy_n(c.in(i).reals.data() + r * width, width, c.out().reals.data() + r * last + begin);
    begin += width;
  }
}

}  // namespace stormcell::reference
