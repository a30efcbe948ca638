#include "core/verification/disturbed_cells.h"

namespace stormcell {

void DisturbedCells::add(const JudgedDecision& r, int32_t row) {
  OfSpace& of = spaces_[r.dense_space];
  of.rows.insert(row);
  if (r.per_item > 0)
    of.items.insert(row / r.per_item);
  else
    of.every_item = true;
}

bool DisturbedCells::reaches(const JudgedDecision& r, int32_t row) const {
  if (r.together == 0) return !none();
  for (const auto& [space, disturbed] : spaces_) {
    if (space != r.dense_space) {
      // Cells that depend on each other lie in one item, in whatever spaces.
      if (disturbed.every_item || r.per_item == 0 || disturbed.items.contains(row / r.per_item)) return true;
      continue;
    }
    const int32_t first = row / r.together * r.together;
    const auto at = disturbed.rows.lower_bound(first);
    if (at != disturbed.rows.end() && *at < first + r.together) return true;
  }
  return false;
}

void DisturbedCells::add_to(Reached& reached) const {
  for (const auto& [space, disturbed] : spaces_) {
    reached.any = true;
    reached.every_item |= disturbed.every_item;
    reached.items.insert(disturbed.items.begin(), disturbed.items.end());
  }
}

}  // namespace stormcell
