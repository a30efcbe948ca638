// What the slots of a server got while it was recorded, as a run keeps it beside what its trace says of itself.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/traces/trace.h"

namespace stormcell {

/// An object with the keys `slots` and `slot_ranks`, to be put among what the trace says of itself; null where there
/// are none.
nlohmann::json json_of(const RecordedSlots& slots);
/// None where nothing is kept there, or it has another form.
RecordedSlots slots_at(const nlohmann::json& about);
/// Of two parts of one recording, or of two days; none where an expert moved between them, or one of them has none.
RecordedSlots sum_of(const RecordedSlots& a, const RecordedSlots& b);

}  // namespace stormcell
