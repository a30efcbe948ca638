// Layout of weights in a card's memory: row-major, in the format of the key.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/runtime/device.h"

namespace stormcell::gpu {

/// Bytes of a weight in the layout and format of the key. Throws Error(failed) for a layout that is not a card's.
int64_t planned_weight_bytes(const WeightKey& key, const WeightInfo& info);
/// Writes the weight in the card's layout to memory of the host of that many bytes.
void write_planned_weight(const WeightKey& key, const WeightSource& source, std::byte* to);

}  // namespace stormcell::gpu
