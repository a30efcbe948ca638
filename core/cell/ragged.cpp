#include "core/cell/ragged.h"

namespace stormcell {

size_t ragged_bytes(const RaggedShape& shape) {
  MemoryParts<64> parts;
  lay_ragged(parts, shape.parents, shape.cells);
  return parts.bytes();
}
RaggedView ragged_view(void* memory, const RaggedShape& shape) {
  MemoryParts<64> parts(memory);
  return lay_ragged(parts, shape.parents, shape.cells);
}

CellGroups ragged_groups(const RaggedView& ragged, int32_t first, int32_t end) {
  const int32_t cell = ragged.offsets[first];
  CellGroups g;
  g.parents = end - first;
  g.offsets = ragged.offsets + first;
  g.parent = ragged.parent + cell;
  g.places = ragged.place + cell;
  return g;
}

void compact_cells(const int32_t* mask, const CellGroups& base, RaggedView& out) {
  int32_t n = 0;
  for (int64_t p = 0; p < base.parents; ++p) {
    out.offsets[p] = n;
    for (int64_t c = base.begin(p); c < base.end(p); ++c) {
      if (mask[c] == 0) continue;
      out.cell[n] = static_cast<int32_t>(c);
      out.parent[n] = static_cast<int32_t>(p);
      out.place[n++] = base.place(p, c);
    }
  }
  out.offsets[base.parents] = n;
  *out.parents = static_cast<int32_t>(base.parents);
  *out.cells = n;
}

void member_cells(const DecisionView& decision, const CellGroups& base, RaggedView& out) {
  const int32_t slots = decision.offsets[decision.branches];
  int32_t n = 0;
  for (int32_t s = 0; s < slots; ++s) {
    out.offsets[s] = n;
    const int64_t p = decision.cell[s];
    for (int64_t c = base.begin(p); c < base.end(p); ++c) {
      out.cell[n] = static_cast<int32_t>(c);
      out.parent[n] = s;
      out.place[n++] = base.place(p, c);
    }
  }
  out.offsets[slots] = n;
  *out.parents = slots;
  *out.cells = n;
}

}  // namespace stormcell
