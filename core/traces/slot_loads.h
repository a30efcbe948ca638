// Loads of a server's slots, stored by a run beside the trace's own statements.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/traces/trace.h"

namespace stormcell {

/// An object with the keys `slots` and `slot_ranks`, to be added to the trace's own statements; null if there are no
/// slots.
nlohmann::json json_of(const RecordedSlots& slots);
/// None if `about` has none, or has them in another form.
RecordedSlots slots_at(const nlohmann::json& about);
/// Adds two parts of one recording, or two days. None if an expert moved between them, or if one of them has none.
RecordedSlots sum_of(const RecordedSlots& a, const RecordedSlots& b);

}  // namespace stormcell
