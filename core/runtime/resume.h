// How a device takes up a submission where the last one ended.
#pragma once
#include "core/runtime/device.h"

namespace stormcell {

/// The leaf that a submission goes on with, at the turns that `area`, the status of the last one, counts. Throws
/// Error(failed) where that one did not end to go on there, at those turns: both are named, and nothing is changed.
const Leaf& go_on(const Program& program, const SegmentTree& segments, const Submission& submission,
                  const StatusArea& area);

}  // namespace stormcell
