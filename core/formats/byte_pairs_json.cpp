#include "core/formats/byte_pairs_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"
#include "core/formats/sentencepiece_library.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;
const std::string kModelPart = "the model";

std::vector<Piece> parse_pieces(const Json& model, const TakenVocabulary& taken, const TokenizerParts& parts) {
  if (!parts.member(model, "vocab", kModelPart).is_object())
    parts.refuse("the vocabulary of the model is not an object");
  if (taken.pieces() == 0) parts.refuse("the model has no pieces");
  // Ids with large gaps are a mistake and would cost memory.
  const size_t most = 2 * taken.pieces() + 1024;
  std::vector<Piece> pieces(taken.pieces());
  for (size_t i = 0; i < taken.pieces(); ++i) {
    const auto [text, id] = taken.piece(i);
    const auto at = static_cast<size_t>(id);
    if (at >= most)
      parts.refuse("piece " + in_quotes(text) + " has the id " + std::to_string(id) + " among " +
                   std::to_string(taken.pieces()) + " pieces");
    if (at >= pieces.size()) pieces.resize(at + 1);
    if (!pieces[at].text.empty()) parts.refuse("two pieces have the id " + std::to_string(id));
    pieces[at].text = text;
  }
  while (pieces.back().text.empty()) pieces.pop_back();
  return pieces;
}

void refuse_affixes(const Json& model, const TokenizerParts& parts) {
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const Json& value = parts.optional_member(model, key); !value.is_null() && value != "")
      parts.unsupported("a BPE model with", key);
  if (const Json& dropout = parts.optional_member(model, "dropout"); !dropout.is_null() && dropout != 0.0)
    parts.unsupported("a BPE model with", "dropout");
}

bool has_all_bytes(const std::vector<Piece>& pieces, const TokenizerParts& parts) {
  const auto bytes =
      std::count_if(pieces.begin(), pieces.end(), [](const Piece& piece) { return is_byte_piece(piece.text); });
  if (bytes != 0 && bytes != 256)
    parts.refuse("it has " + std::to_string(bytes) + " byte pieces, expected 256 or none");
  return bytes == 256;
}

}  // namespace

BytePairModel parse_byte_pairs(const Json& model, const TakenVocabulary& taken, const TokenizerParts& parts) {
  refuse_affixes(model, parts);
  BytePairModel read;
  read.pieces = parse_pieces(model, taken, parts);
  read.rules.byte_fallback = parts.flag(model, "byte_fallback", false) && has_all_bytes(read.pieces, parts);
  read.rules.fuse_unknown = parts.flag(model, "fuse_unk", false);
  read.rules.whole_words = parts.flag(model, "ignore_merges", false);
  const PieceIndex vocabulary(read.pieces);
  if (!vocabulary.twice().empty()) parts.refuse("the piece " + in_quotes(vocabulary.twice()) + " occurs twice");
  if (const Json& unknown = parts.optional_member(model, "unk_token"); !unknown.is_null()) {
    const std::string& piece = parts.text(model, "unk_token", kModelPart);
    read.rules.unknown = vocabulary.find(piece);
    if (!read.rules.unknown) parts.refuse("unk_token: the vocabulary has no piece " + in_quotes(piece));
  }
  parts.list(model, "merges", kModelPart);
  read.rules.merges.reserve(taken.merges());
  std::string both;
  for (size_t i = 0; i < taken.merges(); ++i) {
    const auto [left, right] = taken.merge(i);
    both.assign(left).append(right);
    const std::optional<int32_t> a = vocabulary.find(left), b = vocabulary.find(right), joined = vocabulary.find(both);
    if (!a || !b || !joined)
      parts.refuse("the merge of " + in_quotes(left) + " and " + in_quotes(right) + ": the vocabulary has no piece " +
                   in_quotes(!a   ? left
                             : !b ? right
                                  : std::string_view(both)));
    read.rules.merges.push_back({*a, *b, *joined});
  }
  return read;
}

}  // namespace stormcell
