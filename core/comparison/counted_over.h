// The batches over which the figures of two runs were counted. A figure over 1 batch says nothing about the same
// figure over 60.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/comparison/summary_figures.h"

namespace stormcell {

/// The figures that two summaries counted over unlike parts of their data.
struct UnlikeCounts {
  bool same_batches = true;           ///< false: a time limit let the runs execute different numbers of batches
  std::vector<std::string> prefixes;  ///< of the figures that must not be compared: "verified."
  std::vector<std::string> warnings;  ///< a sentence for each
  /// Verdicts ("verified.passed") and the counts themselves are compared in any case.
  bool holds(std::string_view figure) const;
};
UnlikeCounts unlike_counts(const SummaryFigures& a, const SummaryFigures& b);

}  // namespace stormcell
