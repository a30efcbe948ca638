// Cells, and the spaces they live in.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/enum_words.h"

namespace stormcell {

/// The part of a computation that a cell belongs to.
enum class Phase : uint8_t { forward = 0, prefill = 1, decode = 2 };
/// Names by a phase's number in a session.
inline constexpr std::array<const char*, 3> kPhaseNames = {"forward", "prefill", "decode"};
inline std::string_view to_text(Phase phase) { return row_of(kPhaseNames, phase); }

/// The identity of a cell across batches and runs: never just a row number.
struct CellId {
  int64_t item = 0;      ///< the item of the dataset
  int64_t sequence = 0;  ///< the sequence (or image) in the whole run: the item's number, whatever batch holds it
  int32_t position = 0;  ///< place in the sequence; in a grid row after row
  int32_t step = 0;      ///< the place in the sequence that decoding adds; 0 in a forward pass
  Phase phase = Phase::forward;
  bool operator==(const CellId&) const = default;
};

/// A place in a grid of cells.
struct GridPlace {
  int32_t row = 0, column = 0;
  bool operator==(const GridPlace&) const = default;
};

/// The row of a batch's cell-space table from which ids are computed, so that no decision has to store them. Several
/// cells of one sequence in the decoding phase are consecutive steps (traces of other systems are kept so).
struct CellTable {
  int64_t first_sequence = 0;  ///< number of the batch's first sequence where they are consecutive
  int32_t sequences = 0;
  int32_t per_sequence = 0;  ///< cells of one sequence, padding included
  int32_t step = 0;          ///< position of each sequence's first cell; the smallest of `starts` if there are any
  Phase phase = Phase::forward;
  int32_t columns = 0;  ///< > 0: cells are in a grid of so many columns (patches, maps); 0: in a sequence
  std::span<const int64_t> items = {};  ///< [sequences] number of each; empty: consecutive from first_sequence
  /// [sequences] position of its first cell, where they are unlike; empty: `step` for all
  std::span<const int32_t> starts = {};

  int64_t cells() const { return static_cast<int64_t>(sequences) * per_sequence; }
  /// Number of the batch's `index`-th sequence.
  int64_t sequence(int64_t index) const { return items.empty() ? first_sequence + index : items[index]; }
  /// Index of a sequence within the batch, -1: it is not in it.
  int64_t index_of(int64_t sequence) const {
    if (items.empty())
      return sequence >= first_sequence && sequence - first_sequence < sequences ? sequence - first_sequence : -1;
    const auto at = std::find(items.begin(), items.end(), sequence);
    return at == items.end() ? -1 : at - items.begin();
  }
  /// Position of the first cell of the batch's `index`-th sequence.
  int32_t start(int64_t index) const { return starts.empty() ? step : starts[index]; }
  /// Position in its sequence of the cell in `row`, in every phase: a prompt, too, may come in parts.
  int32_t position(int64_t row) const { return static_cast<int32_t>(row % per_sequence) + start(row / per_sequence); }
  /// Id of the cell in `row`, rows being ordered by sequence, then position.
  CellId id(int64_t row) const {
    const int64_t sequence = this->sequence(row / per_sequence);
    const int32_t position = this->position(row);
    return {sequence, sequence, position, phase == Phase::decode ? position : 0, phase};
  }
  /// Row and column of a position in its grid; in a sequence {0, position}.
  GridPlace place(int32_t position) const {
    return columns > 0 ? GridPlace{position / columns, position % columns} : GridPlace{0, position};
  }
};

/// Maps each cell of a space to its parent: equal groups (token -> sequence) or an explicit map (a routed space).
/// Capacity per sequence and priorities per batch are counted over parents.
struct ParentMap {
  int64_t per_parent = 0;           ///< > 0: cell c belongs to parent c / per_parent
  const int32_t* parent = nullptr;  ///< else the parent of each cell, those of one parent together, counted from
                                    ///< anywhere; null: one parent for all
  int64_t of(int64_t cell) const { return per_parent > 0 ? cell / per_parent : parent ? parent[cell] : 0; }
};

}  // namespace stormcell
