// Outputs of a plan beside the reference's, each on its own scale: a small one is not hidden by large logits.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/runtime/executor.h"
#include "core/summary/results.h"

namespace stormcell {

class OutputJudge {
 public:
  /// One batch. `real`: by output, 1 for each cell that counts; all cells of an output that it does not name count.
  void add(const std::vector<OutputValue>& ours, const std::vector<OutputValue>& reference,
           const std::map<std::string, std::vector<int32_t>>& real = {});
  /// In the reference's order: max|ours - reference| over all batches, and that divided by max|reference|. Infinite where an output is
  /// missing, has another size, or holds another integer in a cell that counts.
  std::vector<OutputDifference> differences() const;
  /// The same, divided by the largest value that another judge of the same outputs has seen.
  std::vector<OutputDifference> differences_on_scale_of(const OutputJudge& other) const;

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
