#include "core/cell/route.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cell/capacity.h"
#include "core/cell/choose.h"
#include "core/cell/protocol_row.h"

namespace stormcell {
namespace {

/// Weights of given choices by the rule's own weighting; a dropped choice gets the weight its branch would have had.
void weigh_choices(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  const int32_t k = out.fan_out;
  const Weighting weighting = protocol_row(protocol.kind).weighting;
  const SoftmaxPlace softmax = softmax_of_weights(protocol);
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data ? in.data + c * in.branches : nullptr;
    const int32_t* choice = out.choice + c * k;
    float* weight = out.choice_weight + c * k;
    const auto used = [&](int32_t j) { return choice[j] != kNoBranch; };
    // A NaN among the scores makes the weights NaN, as it does in every framework: a broken router must show.
    float most = -std::numeric_limits<float>::infinity(), sum = 0;
    if (softmax == SoftmaxPlace::before) {
      for (int32_t b = 0; b < in.branches; ++b) most = std::max(most, s[b]);
      for (int32_t b = 0; b < in.branches; ++b) sum += std::exp(s[b] - most);
    } else if (softmax == SoftmaxPlace::after) {
      for (int32_t j = 0; j < k; ++j)
        if (used(j)) most = std::max(most, s[branch_of(choice[j])]);
      for (int32_t j = 0; j < k; ++j)
        if (used(j)) sum += std::exp(s[branch_of(choice[j])] - most);
    }
    const auto weight_of = [&](int32_t b) {
      if (softmax != SoftmaxPlace::none) return std::exp(s[b] - most) / sum;
      if (weighting == Weighting::one) return 1.0f;
      return weighting == Weighting::sigmoid ? sigmoid(s[b]) : s[b];
    };
    float chosen = 0;
    for (int32_t j = 0; j < k; ++j) {
      weight[j] = used(j) ? weight_of(branch_of(choice[j])) : 0;
      chosen += weight[j];
    }
    const float factor = protocol.scale / (protocol.renormalize && chosen > 0 ? chosen : 1.0f);
    if (factor != 1)
      for (int32_t j = 0; j < k; ++j) weight[j] *= factor;
  }
}

void finish(const Protocol& protocol, int64_t cells, DecisionView& out) {
  index_decision(out, cells);
  pad_loads(out, {protocol.supported_capacities, protocol.capacity_padding, protocol.path_wise_padding});
}

}  // namespace

void route(const ScoreView& scores, const Protocol& protocol, DecisionView& out) {
  protocol_row(protocol.kind).choose(scores, protocol, out);
  weigh_choices(scores, protocol, out);
  finish(protocol, scores.cells, out);
}

void replay(const ScoreView& scores, const Protocol& protocol, const int32_t* choices, DecisionView& out,
            int32_t* free_choices) {
  protocol_row(protocol.kind).choose(scores, protocol, out);  // for the margins
  for (int64_t c = 0; c < scores.cells; ++c) {
    const bool recorded = choices[c * out.fan_out] != kNotRecorded;
    for (int64_t i = c * out.fan_out; i < (c + 1) * out.fan_out; ++i) {
      const int32_t chosen = out.choice[i];
      if (recorded) out.choice[i] = choices[i];
      if (free_choices) free_choices[i] = chosen;
    }
  }
  weigh_choices(scores, protocol, out);
  finish(protocol, scores.cells, out);
}

}  // namespace stormcell
