// Ragged cells: parents that have unequal numbers of cells. As with a decision, the memory is known before the cells
// are: a bound on the parents and one on the cells; the view works on host and device memory alike.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/cell/decision.h"

namespace stormcell {

/// Bounds from which the memory is laid out.
struct RaggedShape {
  int64_t parents = 0;  ///< most parents that may come
  int64_t cells = 0;    ///< most cells that may come
  bool operator==(const RaggedShape&) const = default;
};

/// The cells of a base space that exist, in order of their parents. The cells of parent p are [offsets[p],
/// offsets[p+1]).
struct RaggedView {
  int32_t* cells = nullptr;    ///< [1] cells that came
  int32_t* parents = nullptr;  ///< [1] parents that came
  int32_t* offsets = nullptr;  ///< [parents + 1]
  int32_t* cell = nullptr;     ///< [cells] its row in the base space
  int32_t* parent = nullptr;   ///< [cells] its parent
  /// [cells] its place among the cells that its parent has in the base space: positions count from here
  int32_t* place = nullptr;

  int32_t load(int32_t parent_row) const { return offsets[parent_row + 1] - offsets[parent_row]; }
};

/// Takes the parts in their order, over numbers or extents: as lay_decision().
template <class Parts, class Extent>
RaggedView lay_ragged(Parts& parts, const Extent& parents, const Extent& cells) {
  RaggedView r;
  r.cells = parts.template take<int32_t>(2);
  r.parents = r.cells ? r.cells + 1 : nullptr;
  r.offsets = parts.template take<int32_t>(parents + 1);
  r.cell = parts.template take<int32_t>(cells);
  r.parent = parts.template take<int32_t>(cells);
  r.place = parts.template take<int32_t>(cells);
  return r;
}
/// Bytes of the memory; every part is aligned to 64 bytes.
size_t ragged_bytes(const RaggedShape& shape);
/// Lays a view over `memory` (64-byte aligned, ragged_bytes large).
RaggedView ragged_view(void* memory, const RaggedShape& shape);

/// Groups of a dense or ragged space's cells by parent, with the place of each cell: equal groups of `per_parent`, or
/// groups by offsets. Rows count from the space's own first cell, even if it holds the members of one branch and its
/// offsets those of all.
struct CellGroups {
  int64_t parents = 0, per_parent = 0;
  const int32_t* offsets = nullptr;  ///< ragged: [parents + 1], from the space's first parent on
  const int32_t* parent = nullptr;   ///< ragged: by cell, not counted from the space's first parent
  const int32_t* places = nullptr;   ///< ragged: by cell

  int64_t begin(int64_t p) const { return offsets ? offsets[p] - offsets[0] : p * per_parent; }
  int64_t end(int64_t p) const { return begin(p) + count(p); }
  int64_t count(int64_t p) const { return offsets ? offsets[p + 1] - offsets[p] : per_parent; }
  int64_t cells() const { return offsets ? offsets[parents] - offsets[0] : parents * per_parent; }
  int32_t place(int64_t p, int64_t cell) const {
    return places ? places[cell] : static_cast<int32_t>(cell - p * per_parent);
  }
  /// Parents that capacity is counted over.
  ParentMap parent_map() const { return offsets ? ParentMap{0, parent} : ParentMap{per_parent, nullptr}; }
};
/// The groups of a ragged space: parents [first, end) of its value.
CellGroups ragged_groups(const RaggedView& ragged, int32_t first, int32_t end);

/// The cells whose mask is not 0, below the same parents. O(cells), no allocation.
void compact_cells(const int32_t* mask, const CellGroups& base, RaggedView& out);
/// The cells of the parents that a decision routes: below each slot, in the order of the slots, the cells of the parent
/// there. O(cells that come).
void member_cells(const DecisionView& decision, const CellGroups& base, RaggedView& out);

}  // namespace stormcell
