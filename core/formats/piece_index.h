// Flat tables of a vocabulary: ids by piece, and merges by pair. A vocabulary of 250,000 takes 2 MiB and 8 MiB here.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/formats/sentencepiece_model.h"

namespace stormcell {

/// Finds the id of a piece by its text.
class PieceIndex {
 public:
  /// Empty texts are gaps. Of equal texts the first is found. The pieces must outlive the index.
  explicit PieceIndex(std::span<const Piece> pieces);

  std::optional<int32_t> find(std::string_view text) const;
  /// A text that two pieces have; empty: there is none.
  std::string_view twice() const { return twice_; }

 private:
  std::span<const Piece> pieces_;
  std::vector<int32_t> slots_;  // -1: free; its size is a power of two
  std::string_view twice_;
};

/// Finds the merge of two pieces.
class MergeTable {
 public:
  struct Merge {
    int32_t rank, joined;
  };

  explicit MergeTable(size_t merges);
  /// Replaces the merge of the same pair.
  void put(int32_t left, int32_t right, Merge merge);
  std::optional<Merge> find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    int32_t left = -1, right = -1;
    Merge merge{};
  };
  /// The slot of the pair, or the free one in which it would be.
  size_t slot_of(int32_t left, int32_t right) const;

  std::vector<Slot> slots_;  // left -1: free; its size is a power of two
};

}  // namespace stormcell
