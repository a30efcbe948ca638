// Capacity: how many cells a branch serves, which ones it drops, and how loads are reported where only some capacities
// are supported.
#pragma once
#include <cstdint>
#include <span>

#include "core/cell/decision.h"

namespace stormcell {

/// Cells that each of `branches` serves of `cells` in all: the even share, rounded up, times `factor`, rounded down;
/// all of them at most.
int32_t capacity_of(double factor, int64_t cells, int32_t branches);

/// Switch: each (parent, branch) serves at most `capacity` cells, the first in cell order; the others become
/// dropped_from(branch). Cells of one parent must be contiguous (they are, by the cell order).
void serve_first(DecisionView& decision, int64_t cells, const ParentMap& parents, int32_t capacity);
/// Batch-prioritised: each branch serves at most `capacity` cells of the whole batch, those with the highest
/// choice_weight, and of equal ones the first. The others become dropped_from(branch). One choice a cell. Uses
/// `scratch`.
void serve_most_confident(DecisionView& decision, int64_t cells, int32_t capacity);

/// Rules for reporting and padding loads (the capacity rules of the OSDI'23 artifact).
struct CapacityGrid {
  std::span<const int32_t> supported;  ///< ascending; with path_wise one entry a branch
  bool padding = false;
  bool path_wise = false;
};
/// Load reported for a branch with real load n. No grid: n. Without padding: min(n, largest). With padding: the
/// smallest entry that holds n (0 stays 0), at most the largest. Path-wise with padding: the branch's own entry,
/// always.
int32_t padded_load(int32_t n, int32_t branch, const CapacityGrid& grid);
/// Fills decision.padded.
void pad_loads(DecisionView& decision, const CapacityGrid& grid);

}  // namespace stormcell
