// extent: the value of a symbolic extent.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void extent(const Call<Scalar>& c) {
  const Dim dim = Dim::parse(c.attributes().word("extent"), c.graph().symbols, c.node.name);
  c.out().integers[0] = static_cast<int32_t>(dim.evaluate(c.frame.bindings()));
}

}  // namespace stormcell::reference
