// end_sequences: the next tokens, and which sequences have ended.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void end_sequences(const Call<Scalar>& c) {
  const auto end = static_cast<int32_t>(c.attributes().integer("end")),
             pad = static_cast<int32_t>(c.attributes().integer("pad"));
  const auto &next = c.in(0).integers, &done = c.in(1).integers;
  for (size_t i = 0; i < next.size(); ++i) {
    const int32_t token = done[i] ? pad : next[i];
    c.out(0).integers[i] = token;
    c.out(1).integers[i] = done[i] || (end >= 0 && next[i] == end) ? 1 : 0;
  }
}

}  // namespace stormcell::reference
