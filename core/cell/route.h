// Applies a router's rule to the scores of one batch.
#pragma once
#include <cstdint>

#include "core/cell/decision.h"
#include "core/cell/protocol.h"

namespace stormcell {

/// Decides freely: choices, index, padded loads.
void route(const ScoreView& scores, const Protocol& protocol, DecisionView& out);

/// Replays recorded choices [cells, fan_out]; a cell whose first choice is kNotRecorded decides freely. Weights come
/// from the scores of this run, so that a replay differs from a free decision only in its choices; margins are those of
/// a free decision. `free_choices` [cells, fan_out], if given, gets the choices of a free decision, drops included; it
/// may be `choices` itself.
void replay(const ScoreView& scores, const Protocol& protocol, const int32_t* choices, DecisionView& out,
            int32_t* free_choices = nullptr);

}  // namespace stormcell
