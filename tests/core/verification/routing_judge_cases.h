// Decisions made by hand, and the judge's verdict on them.
#pragma once
#include <QString>
#include <algorithm>
#include <string>
#include <vector>

#include "core/cell/protocol_row.h"
#include "core/verification/routing_judge.h"

namespace stormcell::testing {

inline constexpr float kNear = 2e-6f, kError = 1e-6f, kFar = 0.5f;

inline Protocol top(int32_t k) {
  Protocol p;
  p.k = k;
  return p;
}
inline Protocol exit_rule() {
  Protocol p;
  p.kind = ProtocolKind::exit_threshold;
  p.residual = 0;
  return p;
}
inline Protocol capacity(int32_t most) {
  Protocol p;
  p.kind = ProtocolKind::switch_top1;
  p.capacity = most;
  return p;
}

/// A router over `cells` dense cells: cell c takes `choice`, by far.
inline JudgedDecision decision(const std::string& router, const Protocol& protocol, int32_t branches,
                               std::vector<int32_t> choice) {
  JudgedDecision d;
  d.router = router;
  d.protocol = protocol;
  const int32_t k = fan_out_of(protocol, branches);
  d.shape = {static_cast<int64_t>(choice.size()) / k, k, branches};
  d.weight.assign(choice.size(), 0.5f);
  d.margin.assign(static_cast<size_t>(d.shape.cells), kFar);
  d.choice = std::move(choice);
  for (int64_t c = 0; c < d.shape.cells; ++c) d.place.push_back(static_cast<int32_t>(c));
  return d;
}

/// A router over those cells that `above` sends to its branch 1.
inline JudgedDecision below(const JudgedDecision& above, const std::string& router, const Protocol& protocol,
                            std::vector<int32_t> choice) {
  JudgedDecision d = decision(router, protocol, 2, std::move(choice));
  d.above = above.above;
  d.above.push_back(above.router);
  d.place.clear();
  for (int64_t c = 0; c < above.shape.cells; ++c) {
    if (above.choice[size_t(c)] != 1) continue;
    d.place.insert(d.place.end(), above.place.begin() + c * int64_t(above.depth()),
                   above.place.begin() + (c + 1) * int64_t(above.depth()));
    d.place.push_back(1);
  }
  return d;
}

/// Scores that are what the choices say: the chosen ones `kFar` above the others, in their order.
inline void add_scores(JudgedDecision& d) {
  d.score_columns = d.shape.branches;
  d.scores.assign(static_cast<size_t>(d.shape.cells * d.shape.branches), 0);
  for (int64_t i = 0; i < d.shape.slot_count(); ++i) {
    const int32_t b = branch_of(d.choice[size_t(i)]);
    d.scores[size_t(i / d.shape.fan_out * d.shape.branches + b)] =
        kFar * float(1 + d.shape.fan_out - i % d.shape.fan_out);
  }
}

/// The same with the reference's decisions replayed, every margin off by rounding.
inline JudgedDecision replayed(const JudgedDecision& d) {
  JudgedDecision p = d;
  p.scores.clear();
  p.free_choice = p.choice;
  for (float& m : p.margin) m += kError;
  return p;
}

/// Cell `c` of the reference lies at a near tie and the plan would choose otherwise.
inline void flip(JudgedDecision& reference, JudgedDecision& ours, int64_t c, int32_t branch) {
  reference.margin[size_t(c)] = kNear;
  ours.margin[size_t(c)] = kNear;
  ours.free_choice[size_t(c)] = branch;
}

using Decisions = std::vector<JudgedDecision>;

inline Verification judged(const Decisions& reference, const Decisions& replay, const Decisions& free) {
  RoutingJudge judge(Arithmetic::f32);
  judge.add(0, reference, replay, &free);
  Verification v;
  judge.judge(v);
  return v;
}

inline QString reasons_of(const Verification& v) {
  QString text;
  for (const std::string& reason : v.reasons) text += QString::fromStdString(reason) + "; ";
  return text;
}

inline std::vector<int32_t> alternating(int64_t n) {
  std::vector<int32_t> choice;
  for (int64_t i = 0; i < n; ++i) choice.push_back(static_cast<int32_t>(i % 2));
  return choice;
}

}  // namespace stormcell::testing
