// SentencePiece's model file (a protobuf, sentencepiece_model.proto), read and written as far as it must be: the
// library aborts or reads astray on some broken models, so every model is checked before it sees it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

enum class PieceType : int { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::normal;
};

/// The model made fit for the library: fully checked, self-tests left out. Bad input otherwise.
std::string checked_sentencepiece_model(std::string_view model, const std::string& where);

/// The pieces of such a model, by their ids.
std::vector<Piece> sentencepiece_pieces(std::string_view model, const std::string& where);

/// A Unigram model that takes text as it comes: no normalisation, no added or removed white space.
std::string plain_unigram_model(std::span<const Piece> pieces, bool byte_fallback);

}  // namespace stormcell
