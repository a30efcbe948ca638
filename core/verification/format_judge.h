// Judges the cost of another number format than the stored one: compares a plan with the oracle on the stored weights,
// once with that oracle's decisions replayed and once freely. The judge is shown executions and decides; it runs
// nothing.
#pragma once
#include <vector>

#include "core/base/dtype.h"
#include "core/verification/compare_decisions.h"
#include "core/verification/judge.h"

namespace stormcell {

class FormatJudge {
 public:
  explicit FormatJudge(NonFinite nonfinite = NonFinite::refused) : replayed_(nonfinite), free_(nonfinite) {}

  /// One batch of a forward pass in two steps, so that the outputs of only one execution are in memory beside the
  /// reference's.
  void add_replayed(const std::vector<OutputValue>& ours, const Observed& stored);
  /// `expected`: the reference's decisions, without those of cells that the plan leaves out.
  void add_free(const Observed& ours, const Observed& stored, const std::vector<JudgedDecision>& expected);

  /// One batch of decoding, outputs kGenerated [sequences, tokens] and kLogits [sequences * tokens, n]. Each sequence
  /// counts up to the first token that differs: behind it another text is decoded. `stored`: without the decisions of
  /// cells that the plan leaves out.
  void add_decoded(const Observed& stored, const Observed& replayed, const Observed& free, int64_t tokens);

  /// Fills the verification's format, and says where it costs more than `tolerance`.
  void judge(DType format, double tolerance, Verification& verification) const;

 private:
  OutputJudge replayed_, free_;
  ChoiceCount choices_;
  int64_t sequences_ = 0, equal_ = 0;
};

}  // namespace stormcell
