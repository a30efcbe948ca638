// Byte-pair encoding as in the `tokenizers` library: splits a word into characters, then joins the pair of lowest rank
// again and again.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/piece_index.h"

namespace stormcell {

/// Two neighbouring pieces that become one. Merges earlier in the list are done earlier.
struct PiecePair {
  int32_t left = 0, right = 0, joined = 0;
};

struct BytePairRules {
  std::vector<PiecePair> merges;   ///< empty with by_score
  bool by_score = false;           ///< any two pieces that make a piece are joined, the highest score first
  std::optional<int32_t> unknown;  ///< id for a character without a piece
  bool fuse_unknown = false;       ///< neighbouring characters without a piece become one unknown piece
  bool byte_fallback = false;      ///< a character without a piece becomes its bytes, if these have pieces
  bool whole_words = false;        ///< true: a word that is a piece becomes that piece without merges
};

class BytePairs {
 public:
  /// `pieces` are indexed by id; empty texts are gaps. They must outlive this object.
  BytePairs(std::span<const Piece> pieces, const BytePairRules& rules);

  std::optional<int32_t> find(std::string_view piece) const;
  /// Adds the ids of a word; false if a character has no piece and there is no unknown piece.
  bool encode(std::string_view word, std::vector<int32_t>& ids) const;

 private:
  using Merge = MergeTable::Merge;
  struct Symbol {
    int32_t id, before, behind;  // indices of the neighbours, -1: none; id -1: this symbol was joined to the one before
  };
  std::optional<Merge> merge_of(int32_t left, int32_t right) const;
  void rank_by_score();
  bool start(std::string_view word, std::vector<Symbol>& symbols) const;
  bool add_bytes(std::string_view character, std::vector<Symbol>& symbols) const;
  void join(std::vector<Symbol>& symbols) const;

  std::span<const Piece> pieces_;
  PieceIndex ids_;
  MergeTable merges_;
  std::vector<int32_t> ranks_;  // with by_score: of each piece; -1: nothing is joined to it
  std::optional<int32_t> unknown_;
  bool fuse_unknown_, byte_fallback_, whole_words_;
};

}  // namespace stormcell
