// The routing decision: what one router decided on one batch. Its memory is known before routing (slots = cells x
// fan-out), so that routing never allocates; the view works on host and device memory alike.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/align.h"
#include "core/cell/cell_space.h"

namespace stormcell {

/// A choice that goes to no branch: the cell has fewer branches than the fan-out.
inline constexpr int32_t kNoBranch = INT32_MIN;
/// A choice that its branch's capacity dropped is stored as ~branch (negative).
inline constexpr int32_t dropped_from(int32_t branch) { return ~branch; }
/// In choices to replay: no choice was recorded for this cell, so it decides freely.
inline constexpr int32_t kNotRecorded = kNoBranch + 1;
inline constexpr bool is_kept(int32_t choice) { return choice >= 0; }
inline constexpr bool is_dropped(int32_t choice) { return choice < 0 && choice != kNoBranch; }
/// The branch that was chosen, whether the choice was kept or dropped; kNoBranch: none.
inline constexpr int32_t branch_of(int32_t choice) { return is_dropped(choice) ? ~choice : choice; }

/// Bounds from which a decision's memory is laid out.
struct DecisionShape {
  int64_t cells = 0;    ///< most cells that may come
  int32_t fan_out = 1;  ///< most branches of one cell
  int32_t branches = 1;
  int64_t slot_count() const { return cells * fan_out; }
  bool operator==(const DecisionShape&) const = default;
};

/// One decision in memory. Choices are what a protocol writes; the CSR part is made from them by index_decision().
/// CSR: the slots of branch b are [offsets[b], offsets[b+1]); within a branch cells ascend.
struct DecisionView {
  int32_t* cells = nullptr;    ///< [1] cells that came
  int32_t* offsets = nullptr;  ///< [branches + 1]
  int32_t* cell = nullptr;     ///< [slots] cell of a slot
  float* weight = nullptr;     ///< [slots] weight of a slot
  /// [cells, fan_out] branch of each choice, in descending score; negative: dropped or none
  int32_t* choice = nullptr;
  float* choice_weight = nullptr;  ///< [cells, fan_out]
  int32_t* slot = nullptr;         ///< [cells, fan_out] slot of each choice, -1 where dropped or none
  int32_t* wanted = nullptr;       ///< [branches] choices before capacity
  int32_t* padded = nullptr;       ///< [branches] load by the rule of supported capacities (pad_loads)
  float* margin = nullptr;         ///< [cells] score distance of the last chosen and the first not chosen branch
  int32_t* scratch = nullptr;      ///< [cells] for protocols that sort
  int32_t fan_out = 1;
  int32_t branches = 1;

  int32_t load(int32_t branch) const { return offsets[branch + 1] - offsets[branch]; }
  int32_t dropped(int32_t branch) const { return wanted[branch] - load(branch); }
  /// [branches] counters in the memory of `padded`, for use before pad_loads() fills it.
  int32_t* counters() const { return padded; }
};

/// Takes the parts of a decision, in their order: the one description of its memory. `cells` is a number, or an extent
/// that is known later (the graph's Dim); `parts` takes counts of that kind.
template <class Parts, class Extent>
DecisionView lay_decision(Parts& parts, const Extent& cells, int32_t fan_out, int32_t branches) {
  const Extent choices = cells * fan_out;
  DecisionView d;
  d.cells = parts.template take<int32_t>(1);
  d.offsets = parts.template take<int32_t>(branches + 1);
  d.cell = parts.template take<int32_t>(choices);
  d.weight = parts.template take<float>(choices);
  d.choice = parts.template take<int32_t>(choices);
  d.choice_weight = parts.template take<float>(choices);
  d.slot = parts.template take<int32_t>(choices);
  d.wanted = parts.template take<int32_t>(branches);
  d.padded = parts.template take<int32_t>(branches);
  d.margin = parts.template take<float>(cells);
  d.scratch = parts.template take<int32_t>(cells);
  d.fan_out = fan_out;
  d.branches = branches;
  return d;
}
template <size_t kAlignment>
DecisionView lay_decision(MemoryParts<kAlignment>& parts, const DecisionShape& shape) {
  return lay_decision(parts, shape.cells, shape.fan_out, shape.branches);
}
/// Bytes of a decision's memory; every part is aligned to 64 bytes.
size_t decision_bytes(const DecisionShape& shape);
/// Lays a view over `memory` (64-byte aligned, decision_bytes large).
DecisionView decision_view(void* memory, const DecisionShape& shape);

/// Builds offsets, cells, weights, slots and wanted loads from choices and their weights by a counting sort:
/// O(cells x fan_out + branches), no allocation. `cells` is the number of rows in use.
void index_decision(DecisionView& decision, int64_t cells);

/// Rows of `from` [cells, width] to slots: to[s] = from[cell[s]].
void dispatch(const DecisionView& decision, const float* from, int64_t width, float* to);
/// Sum over a cell's choices in their order, weighted or not: to[c] = sum_j w[c,j] * from[slot[c,j]]. Cells without a
/// slot give 0.
void combine(const DecisionView& decision, int64_t cells, const float* from, int64_t width, bool weighted, float* to);

}  // namespace stormcell
