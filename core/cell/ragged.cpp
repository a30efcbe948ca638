#include "core/cell/ragged.h"

namespace stormcell {
namespace {
size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// The same walk sizes and lays out, so the two cannot disagree.
template <class Visit>
void for_each_part(const RaggedShape& s, Visit visit) {
  const auto parents = static_cast<size_t>(s.parents), cells = static_cast<size_t>(s.cells);
  visit(0, size_t{2});
  visit(1, parents + 1);
  visit(2, cells);
  visit(3, cells);
  visit(4, cells);
}
}  // namespace

size_t ragged_bytes(const RaggedShape& shape) {
  size_t bytes = 0;
  for_each_part(shape, [&](int, size_t n) { bytes += aligned(n * 4); });
  return bytes;
}

RaggedView ragged_view(void* memory, const RaggedShape& shape) {
  int32_t* parts[5];
  auto* at = static_cast<std::byte*>(memory);
  for_each_part(shape, [&](int part, size_t n) {
    parts[part] = reinterpret_cast<int32_t*>(at);
    at += aligned(n * 4);
  });
  RaggedView r;
  r.cells = parts[0];
  r.parents = parts[0] + 1;
  r.offsets = parts[1];
  r.cell = parts[2];
  r.parent = parts[3];
  r.place = parts[4];
  return r;
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
