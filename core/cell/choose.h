// One function a protocol: writes choice and margin of every cell. route() then writes the weights. Equal scores: the
// lowest index wins; NaN counts as the lowest score.
#pragma once
#include <cmath>

#include "core/cell/decision.h"
#include "core/cell/protocol.h"

namespace stormcell {

/// The sigmoid of a score, by which sigmoid groups choose and weigh.
inline float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

void choose_top_k(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_switch_top1(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_batch_prioritized(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_sigmoid_groups(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_threshold(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_residual_threshold(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_exit_threshold(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_hash(const ScoreView& scores, const Protocol& protocol, DecisionView& out);
void choose_label(const ScoreView& scores, const Protocol& protocol, DecisionView& out);

}  // namespace stormcell
