// The exits of a network as a recorder saw them, with all items through all of them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace stormcell {

struct TracedExit {
  double confidence = 0;        ///< mean of the largest probability over the items for which it is a number
  std::optional<double> right;  ///< share of the labelled items that are answered right here; nothing: none has a label
  std::optional<double> ms = {};  ///< from the start of a pass to the exit's logits, median of the passes
};
struct TracedExits {
  int64_t items = 0, labelled = 0;
  std::vector<TracedExit> exits;  ///< in the order of the network; the last is its end. Empty: the trace has none
};

}  // namespace stormcell
