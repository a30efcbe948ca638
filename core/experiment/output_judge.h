// Outputs of a plan beside the reference's, each on its own scale: a small one is not hidden by large logits.
#pragma once
#include <vector>

#include "core/runtime/executor.h"
#include "core/summary/results.h"

namespace stormcell {

class OutputJudge {
 public:
  /// One batch.
  void add(const std::vector<OutputValue>& ours, const std::vector<OutputValue>& reference);
  /// In the reference's order: max|ours - reference| over all batches, and that divided by max|reference|. Infinite where an output is
  /// missing, has another size, or holds another integer.
  std::vector<OutputDifference> differences() const;

 private:
  struct Sum {
    std::string name;
    double most = 0, scale = 0;
  };
  std::vector<Sum> sums_;
};

/// The largest relative difference; 0 of none.
double largest(const std::vector<OutputDifference>& outputs);

}  // namespace stormcell
