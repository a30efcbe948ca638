// extent, end_sequences, all_set: what loops are counted and stopped by.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void extent(const Call<Scalar>& c) {
  const Dim dim = Dim::parse(c.attributes().word("extent"), c.graph().symbols, c.node.name);
  c.out().integers[0] = static_cast<int32_t>(dim.evaluate(c.frame.bindings()));
}

template <class Scalar>
void end_sequences(const Call<Scalar>& c) {
  const auto end = static_cast<int32_t>(c.attributes().integer("end")), pad = static_cast<int32_t>(c.attributes().integer("pad"));
  const auto &next = c.in(0).integers, &done = c.in(1).integers;
  for (size_t i = 0; i < next.size(); ++i) {
    const int32_t token = done[i] ? pad : next[i];
    c.out(0).integers[i] = token;
    c.out(1).integers[i] = done[i] || (end >= 0 && next[i] == end) ? 1 : 0;
  }
}

template <class Scalar>
void all_set(const Call<Scalar>& c) {
  int32_t all = 1;
  for (const int32_t flag : c.in(0).integers) all &= flag != 0;
  c.out().integers[0] = all;
}

}  // namespace stormcell::reference
