// Outputs of a plan beside the reference's, each on its own scale: a small one is not hidden by large logits, nor an
// error in one item by the large values of another.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/runtime/executor.h"
#include "core/summary/results.h"
#include "core/verification/nonfinite.h"
#include "core/verification/relative_error.h"

namespace stormcell {

class OutputJudge {
 public:
  explicit OutputJudge(NonFinite nonfinite = NonFinite::refused) : nonfinite_(nonfinite) {}

  /// One batch of so many items. `real`: by output, 1 for each cell that counts; all cells of an output that it does
  /// not name count.
  void add(const std::vector<OutputValue>& ours, const std::vector<OutputValue>& reference,
           const std::map<std::string, std::vector<int32_t>>& real = {}, int64_t items = 1, int64_t batch = 0);
  /// Differences in the reference's order: max|ours - reference| over all items, and the largest of the same divided by
  /// max|reference| of the item, or by the usual one if that is larger (RelativeError). Infinite if an output is
  /// missing, has another size, or holds another integer or a refused value in a cell that counts.
  std::vector<OutputDifference> differences() const;
  /// The same on the scale that is usual in another judge of the same outputs.
  std::vector<OutputDifference> differences_on_scale_of(const OutputJudge& other) const;
  /// The refused value in an output, as NonFiniteValues::reason() says it; empty: none.
  std::string nonfinite_in(const std::string& output) const;
  /// Number of values that are not finite, and are allowed.
  int64_t allowed_nonfinite() const;

 private:
  struct Sum {
    std::string name;
    NonFiniteValues nonfinite;
    RelativeError error{};
  };
  NonFinite nonfinite_;
  std::vector<Sum> sums_;
};

/// The largest relative difference; 0 of none.
double largest(const std::vector<OutputDifference>& outputs);

}  // namespace stormcell
