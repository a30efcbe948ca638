#include "core/session/session_types.h"

namespace stormcell {

std::vector<int32_t> StoredDecision::cells_by_branch() const {
  std::vector<int32_t> next(offsets.begin(), offsets.end()),
      out(static_cast<size_t>(offsets.empty() ? 0 : offsets.back()));
  for (size_t i = 0; i < choice.size(); ++i)
    if (is_kept(choice[i])) out[next[choice[i]]++] = static_cast<int32_t>(i / static_cast<size_t>(fan_out));
  return out;
}

DecisionRecord StoredDecision::record(int32_t router) const {
  return {router, choice, weight, padded, ancestor, scores, margin, residency, bytes_read, score_columns};
}

}  // namespace stormcell
