// Measures the upper limits of a card.
#pragma once
#include "core/runtime/device.h"
#include "gpu/device/card_stream.h"

namespace stormcell::card {

/// As Device::probe(). Products in bf16 have no kernels of their own yet, so their ceiling is that of f32.
DeviceProbe probe_card(Device& device, StreamParts& parts, const ProbeLimits& limits, const CancellationToken& cancel);

}  // namespace stormcell::card
