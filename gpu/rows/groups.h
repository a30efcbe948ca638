// Groups of an operand's cells by parent: equal groups from the rows table, or those of a ragged value
// (core/cell/ragged.h).
#pragma once
#include "core/cell/ragged.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

/// Places of the parts of a ragged value in its memory.
struct RaggedPlaces {
  int32_t cells = 0, parents = 0, offsets = 0, cell = 0, parent = 0, place = 0;

  STORMCELL_BOTH RaggedView at(char* memory) const {
    const auto ints = [&](int32_t at) { return reinterpret_cast<int32_t*>(memory + at); };
    RaggedView r;
    r.cells = ints(cells), r.parents = ints(parents), r.offsets = ints(offsets);
    r.cell = ints(cell), r.parent = ints(parent), r.place = ints(place);
    return r;
  }
};

/// Cells of parents; rows count from the operand's own first cell. As CellGroups of the core, with the counts on the
/// device.
struct Groups {
  int32_t parents = 0, per_parent = 0;
  RaggedView ragged;  ///< its offsets are null: a dense space
  int32_t first_parent = 0, first = 0;

  STORMCELL_DEVICE int64_t begin(int64_t p) const {
    return ragged.offsets ? ragged.offsets[first_parent + p] - first : p * per_parent;
  }
  STORMCELL_DEVICE int32_t count(int64_t p) const {
    return ragged.offsets ? ragged.offsets[first_parent + p + 1] - ragged.offsets[first_parent + p] : per_parent;
  }
  STORMCELL_DEVICE int32_t parent(int64_t cell) const {
    return ragged.offsets ? ragged.parent[first + cell] - first_parent : static_cast<int32_t>(cell / per_parent);
  }
  /// The place of a cell of parent p among those that the parent has in the dense space.
  STORMCELL_DEVICE int32_t place(int64_t p, int64_t cell) const {
    return ragged.offsets ? ragged.place[first + cell] : static_cast<int32_t>(cell - p * per_parent);
  }
};

/// The groups of an operand's rows. `ragged`: the Ref of the ragged value, unused if the rows are in equal groups.
template <class Args>
STORMCELL_DEVICE Groups groups_of(const Args& a, const Ref& rows, const Ref& ragged, const RaggedPlaces& places) {
  const RowsEntry entry = a.rows(rows);
  Groups g;
  g.parents = entry.parents, g.per_parent = entry.per_parent;
  if (ragged.access == Access::none) return g;
  g.ragged = places.at(a.address(ragged));
  g.first_parent = entry.first_parent, g.first = entry.first;
  return g;
}

}  // namespace stormcell::gpu
