// A router's protocol as attributes of its route node, and back.
#pragma once
#include "core/cell/protocol.h"
#include "core/graph/attributes.h"

namespace stormcell {

/// Only parameters that differ from their defaults are written.
Attributes to_attributes(const Protocol& protocol);
/// Throws Error(bad_input) on an unknown protocol.
Protocol protocol_of(const Attributes& attributes);

}  // namespace stormcell
