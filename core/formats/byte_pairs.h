// Byte-pair encoding as the `tokenizers` library does it: a word's characters, then the pair of lowest rank joined again and again.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/formats/sentencepiece_model.h"

namespace stormcell {

/// Two neighbouring pieces that become one; earlier in the list: earlier joined.
struct PiecePair {
  int32_t left = 0, right = 0, joined = 0;
};

struct BytePairRules {
  std::vector<PiecePair> merges;
  std::optional<int32_t> unknown;  ///< for a character without a piece
  bool fuse_unknown = false;       ///< neighbours without a piece are one
  bool byte_fallback = false;      ///< a character without a piece is its bytes, where these have pieces
  bool whole_words = false;        ///< a word that is a piece is that piece, whatever the merges
};

class BytePairs {
 public:
  /// `pieces` by their ids; those without text are gaps. They must outlive it.
  BytePairs(std::span<const Piece> pieces, const BytePairRules& rules);

  std::optional<int32_t> find(std::string_view piece) const;
  /// Adds the ids of a word; false where a character has no piece and there is none for the unknown.
  bool encode(std::string_view word, std::vector<int32_t>& ids) const;

 private:
  struct Merge {
    int32_t rank, joined;
  };
  struct Symbol {
    int32_t id, before, behind;  // indices of the neighbours, -1: none; id -1: joined to the one before
  };
  const Merge* merge_of(int32_t left, int32_t right) const;
  bool start(std::string_view word, std::vector<Symbol>& symbols) const;
  bool add_bytes(std::string_view character, std::vector<Symbol>& symbols) const;
  void join(std::vector<Symbol>& symbols) const;

  std::unordered_map<std::string_view, int32_t> ids_;
  std::unordered_map<uint64_t, Merge> merges_;
  std::optional<int32_t> unknown_;
  bool fuse_unknown_, byte_fallback_, whole_words_;
};

}  // namespace stormcell
