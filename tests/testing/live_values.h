// The least memory that a plan can take, by brute force: from the graph and the order of a program's steps, without its
// buffers, their lives and places.
#pragma once
#include "core/runtime/program.h"

namespace stormcell::testing {

/// The largest sum, over the steps, of the bytes of the values that are alive there, every extent at its bound. A value
/// lives from the first to the last step that touches it; what a repeat reads from outside lives through all its turns,
/// outputs to the end. The branches of a decision exclude each other: what only steps of its own branch touch, while no
/// other branch of the decision runs, counts with as many rows as the branch can get. What lives on beside other
/// branches shares the slots: the first such values of all branches of a decision (of one row size) together have at
/// most as many rows as the decision has slots, so have the second ones, and so on.
///
/// `by_load` is stricter, and no static plan may reach it where the fan-out is above 1: of all values of one decision
/// and row size that live on beside other branches, those count that are alive for the worst choice of loads, a
/// branch's values all together.
struct LiveBytes {
  int64_t by_place = 0, by_load = 0;
};
LiveBytes most_live_bytes(const Program& program, const Bindings& bounds);

}  // namespace stormcell::testing
