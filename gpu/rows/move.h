// Moves rows: each output row is a source row, or a constant, by one of a few maps. A thread moves 16, 8, 4 or 2 bytes,
// as the rows allow; numbers that change their format go one by one. Bound: copy bandwidth.
#pragma once
#include "gpu/dispatch/dispatch.h"
#include "gpu/rows/ragged.h"

namespace stormcell::gpu {

/// The source row of output row r.
enum class RowMap : uint8_t {
  same,       ///< r
  by_slot,    ///< the cell of slot r of the output's branch
  by_id,      ///< the r-th of the ids: a look-up
  by_parent,  ///< the parent of r
  by_member,  ///< the cell in the base space of the output's r-th ragged cell
  by_place,   ///< the ragged cell whose cell in the base space is r; without one, 0 is stored
  fill,       ///< none: a constant
};

/// The list: outputs, each with a map for its own rows.
struct MoveArgs : KernelArgs<2> {
  enum { kFrom, kTell };  ///< kTell: the decision, the ids, or the ragged value
  DecisionPlaces decision;
  RaggedPlaces ragged;
  int32_t table = -1;  ///< handle of the weight that is the source instead of kFrom
  int32_t width = 1;   ///< numbers of a row
  int32_t pixels = 1;  ///< of a row of the operands: each is a row here, of the maps `same` and `fill` alone
  int32_t from_column = 0, to_column = 0, from_width = 1, to_width = 1;  ///< of rows, `width` numbers are moved
  int32_t piece = 4;         ///< bytes at once, where the formats are the same
  int32_t number_bytes = 4;  ///< of the output
  uint32_t fill = 0;         ///< bits of a constant, of number_bytes
  RowMap map = RowMap::same;
  Format from = Format::f32, to = Format::f32;  ///< i32 moves as f32 does
};

struct MoveKernel {
  using Args = MoveArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "move";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    // Blocks are dealt out to the outputs; those of one output stride over its rows.
    const int stripes = x.blocks() / a.listed, stripe = x.block() / a.listed;
    if (stripe >= stripes) return;
    const Ref& output = a.listed_ref(x.block() % a.listed);
    RowsEntry to = rows_of(a, output);
    to.rows *= a.pixels;
    const int64_t first = static_cast<int64_t>(stripe) * kThreads + x.thread(),
                  step = static_cast<int64_t>(stripes) * kThreads;
    if (a.map == RowMap::fill) return fill(x, a, to, first, step);
    if (a.from != a.to) return convert(x, a, to, first, step);
    switch (a.piece) {
      case 16:
        return copy<Sixteen>(x, a, to, first, step);
      case 8:
        return copy<uint64_t>(x, a, to, first, step);
      case 4:
        return copy<uint32_t>(x, a, to, first, step);
      default:
        return copy<uint16_t>(x, a, to, first, step);
    }
  }

 private:
  /// Scratch has no entry: as many rows as come.
  STORMCELL_DEVICE static RowsEntry rows_of(const Args& a, const Ref& output) {
    if (output.entry >= 0) return a.rows(output);
    RowsEntry to;
    to.data = reinterpret_cast<uint64_t>(a.address(output));
    to.rows = a.rows(a.ref[Args::kFrom]).rows;
    return to;
  }
  STORMCELL_DEVICE static const char* source(const Args& a) {
    return a.table >= 0 ? a.weight<char>(a.table) : a.in<char>(a.ref[Args::kFrom]);
  }
  /// -1: there is no source; maps of rows that change their format never return it.
  STORMCELL_DEVICE static int64_t source_row(const Args& a, const RowsEntry& to, int64_t row) {
    switch (a.map) {
      case RowMap::by_slot:
        return reinterpret_cast<const int32_t*>(a.in<char>(a.ref[Args::kTell]) + a.decision.cell)[to.first + row];
      case RowMap::by_id:
        return a.in<int32_t>(a.ref[Args::kTell])[row];
      case RowMap::by_parent:
        return a.has(Args::kTell) ? ragged(a).parent[to.first + row] - to.first_parent : row / to.per_parent;
      case RowMap::by_member:
        return ragged(a).cell[to.first + row];
      case RowMap::by_place: {
        const RaggedView r = ragged(a);
        const int32_t at = first_not_below(r.cell, *r.cells, row);
        return at < *r.cells && r.cell[at] == row ? at : -1;
      }
      default:
        return row;
    }
  }
  STORMCELL_DEVICE static RaggedView ragged(const Args& a) {
    return a.ragged.at(const_cast<char*>(a.in<char>(a.ref[Args::kTell])));
  }
  template <class P, class X>
  STORMCELL_DEVICE static void copy(X& x, const Args& a, const RowsEntry& to, int64_t first, int64_t step) {
    const int64_t number = a.number_bytes, pieces = a.width * number / static_cast<int64_t>(sizeof(P));
    const char* from = source(a) + a.from_column * number;
    char* y = reinterpret_cast<char*>(to.data) + a.to_column * number;
    for (int64_t i = first; i < to.rows * pieces; i += step) {
      const int64_t row = i / pieces, at = i % pieces * static_cast<int64_t>(sizeof(P)),
                    source_at = source_row(a, to, row);
      P value{};
      if (source_at >= 0) value = x.load(reinterpret_cast<const P*>(from + source_at * a.from_width * number + at));
      x.store(reinterpret_cast<P*>(y + row * a.to_width * number + at), value);
    }
  }
  template <class X>
  STORMCELL_DEVICE static void convert(X& x, const Args& a, const RowsEntry& to, int64_t first, int64_t step) {
    const char* from = source(a);
    for (int64_t i = first; i < static_cast<int64_t>(to.rows) * a.width; i += step) {
      const int64_t row = i / a.width, column = i % a.width,
                    source_at = source_row(a, to, row) * a.from_width + a.from_column + column,
                    at = row * a.to_width + a.to_column + column;
      if (a.to == Format::bf16)
        x.store(reinterpret_cast<Bf16*>(to.data) + at,
                to_bf16(x.load(reinterpret_cast<const float*>(from) + source_at)));
      else
        x.store(reinterpret_cast<float*>(to.data) + at,
                to_float(x.load(reinterpret_cast<const Bf16*>(from) + source_at)));
    }
  }
  template <class X>
  STORMCELL_DEVICE static void fill(X& x, const Args& a, const RowsEntry& to, int64_t first, int64_t step) {
    for (int64_t i = first; i < static_cast<int64_t>(to.rows) * a.width; i += step) {
      if (a.number_bytes == 2)
        x.store(reinterpret_cast<uint16_t*>(to.data) + i, static_cast<uint16_t>(a.fill));
      else
        x.store(reinterpret_cast<uint32_t*>(to.data) + i, a.fill);
    }
  }
};

}  // namespace stormcell::gpu
