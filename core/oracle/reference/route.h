// route: scores are rounded to f32 and given to the protocol.
#pragma once
#include "core/cell/protocol_row.h"
#include "core/cell/route.h"
#include "core/graph/protocol_attributes.h"
#include "core/oracle/reference/branches_off.h"
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

/// Inputs of a decision; empty for labels.
struct Scores {
  std::vector<float> values, bias;
};

template <class Scalar>
std::vector<float> to_scores(const std::vector<Scalar>& numbers) {
  std::vector<float> scores(numbers.size());
  std::transform(numbers.begin(), numbers.end(), scores.begin(), [](const Scalar& x) { return to_score(x); });
  return scores;
}

/// Changes of a router beside the graph.
struct ChangedRule {
  const std::vector<int32_t>* off = nullptr;  ///< branches that it may not choose; null: it may choose all
  const Capacity* capacity = nullptr;         ///< null: as the graph has it
  bool any() const { return off || capacity; }
};

/// Replays the choices of a router that was changed, or `replayed` if given; only the weights are computed as always.
/// `free_choice` gets its own choices.
inline void decide_changed(const ScoreView& scores, const Protocol& rule, const ChangedRule& changed,
                           const int32_t* replayed, DecisionView& view, std::vector<int32_t>& free_choice) {
  const std::vector<int32_t> none;
  ChoiceOfOthers(scores, rule, changed.off ? *changed.off : none, view.branches, changed.capacity).write(view);
  const int64_t slots = scores.cells * view.fan_out;
  const std::vector<int32_t> own(view.choice, view.choice + slots);
  const std::vector<float> margin(view.margin, view.margin + scores.cells);
  std::vector<int32_t> chosen = own;
  for (int64_t i = 0; replayed && i < slots; ++i)
    if (replayed[i / view.fan_out * view.fan_out] != kNotRecorded) chosen[i] = replayed[i];
  replay(scores, rule, chosen.data(), view);
  std::copy(margin.begin(), margin.end(), view.margin);
  if (replayed) free_choice = own;
}

/// Decides freely, or replays the choices `replayed` [cells, fan_out] and leaves in `free_choice` its own choices.
/// Returns the scores that were used. Capacity is counted over the parents of a dense or ragged space, and over all
/// cells of any other space.
template <class Scalar>
Scores decide(const Call<Scalar>& c, const int32_t* replayed, const ChangedRule& changed, HeldDecision& decision,
              std::vector<int32_t>& free_choice) {
  const Protocol protocol = protocol_of(c.attributes());
  const bool by_label = protocol_row(protocol.kind).by_label();
  ScoreView view;
  view.cells = decision.cells;
  view.branches = static_cast<int32_t>(by_label ? decision.view.branches : c.width(0));
  Scores scores;
  if (by_label) {
    view.label = c.in(0).integers.data();
  } else {
    scores.values = to_scores(c.in(0).reals);
    view.data = scores.values.data();
  }
  if (const auto i = extra_input(c.node, "bias")) {
    scores.bias = to_scores(c.whole(*i));
    view.bias = scores.bias.data();
  }
  if (const SpaceId cells = c.type(0).space; is_grouped(c.graph(), cells))
    view.parents = c.frame.groups(cells).parent_map();
  if (changed.any()) {
    decide_changed(view, protocol, changed, replayed, decision.view, free_choice);
  } else if (replayed) {
    free_choice.resize(decision.cells * decision.view.fan_out);
    replay(view, protocol, replayed, decision.view, free_choice.data());
  } else {
    stormcell::route(view, protocol, decision.view);
  }
  return scores;
}

}  // namespace stormcell::reference
