// The texts of a plan under judgement: comparisons of decoding alone, beside those of every JudgedPlan.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/progress.h"
#include "core/bench/ready_plan.h"
#include "core/data/batch.h"
#include "core/summary/results.h"
#include "core/verification/judge.h"

namespace stormcell {

class JudgedTexts {
 public:
  virtual ~JudgedTexts() = default;
  JudgedTexts(const JudgedTexts&) = delete;
  JudgedTexts& operator=(const JudgedTexts&) = delete;

  /// A batch to compare over more tokens than the others: some steps run only late in a long text.
  struct Further {
    int64_t batch = 0, tokens = 0;
  };
  /// Nothing if the usual comparison shows everything. `batches`: in the order of their comparison; the first is always
  /// compared.
  virtual std::optional<Further> further(const std::vector<int64_t>& batches,
                                         const CancellationToken& cancel) const = 0;
  /// Compares that batch with the oracle.
  virtual void compare_further(const Batch& batch, const Observed& reference, int64_t tokens,
                               const Progress& progress) = 0;

  /// Compares one batch's texts to the end with the plan's own logits, without a reference.
  virtual void compare_with_own(const Progress& progress) = 0;
  /// Compares all texts that both have written, wherever they differ. At least one batch, then as many as there is time
  /// for until `until`.
  virtual void compare_texts(ReadyPlan& baseline, double until, const Progress& progress) = 0;

  /// Fails a verification that found no fault but compared too little.
  virtual void refuse_too_little(Verification& verification) const = 0;

 protected:
  JudgedTexts() = default;
};

}  // namespace stormcell
