#include "core/formats/byte_pairs_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/formats/file_text.h"
#include "core/formats/sentencepiece_library.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;
const std::string kPart = "the model";

std::vector<Piece> parse_pieces(const Json& model, const TokenizerParts& parts) {
  const Json& vocabulary = parts.member(model, "vocab", kPart);
  if (!vocabulary.is_object()) parts.refuse("the vocabulary of the model is not an object");
  if (vocabulary.empty()) parts.refuse("the model has no pieces");
  // Ids with large gaps are a mistake and would cost memory.
  const size_t most = 2 * vocabulary.size() + 1024;
  std::vector<Piece> pieces;
  for (const auto& [text, value] : vocabulary.items()) {
    const size_t id = parts.id_of(value, "piece " + in_quotes(text));
    if (id >= most)
      parts.refuse("piece " + in_quotes(text) + " has the id " + std::to_string(id) + " among " +
                   std::to_string(vocabulary.size()) + " pieces");
    if (text.empty()) parts.refuse("a piece of the model is empty");
    if (id >= pieces.size()) pieces.resize(id + 1);
    if (!pieces[id].text.empty()) parts.refuse("two pieces have the id " + std::to_string(id));
    pieces[id].text = text;
  }
  return pieces;
}

/// A merge is "a b", or ["a", "b"] in newer files.
std::pair<std::string, std::string> pair_of(const Json& merge, const TokenizerParts& parts) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  if (merge.is_string()) {
    const auto& text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
      return {text.substr(0, space), text.substr(space + 1)};
  }
  parts.refuse("the merge " + in_quotes(merge.dump()) + " is not a pair of pieces");
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

BytePairModel parse_byte_pairs(const Json& model, const TokenizerParts& parts) {
  refuse_affixes(model, parts);
  BytePairModel read;
  read.pieces = parse_pieces(model, parts);
  read.rules.byte_fallback = parts.flag(model, "byte_fallback", false) && has_all_bytes(read.pieces, parts);
  read.rules.fuse_unknown = parts.flag(model, "fuse_unk", false);
  read.rules.whole_words = parts.flag(model, "ignore_merges", false);
  const BytePairs vocabulary(read.pieces, {});
  const auto need = [&](const std::string& piece, const std::string& of) {
    if (const auto id = vocabulary.find(piece)) return *id;
    parts.refuse(of + ": the vocabulary has no piece " + in_quotes(piece));
  };
  if (const Json& unknown = parts.optional_member(model, "unk_token"); !unknown.is_null())
    read.rules.unknown = need(parts.text(model, "unk_token", kPart), "unk_token");
  for (const Json& merge : parts.list(model, "merges", kPart)) {
    const auto [left, right] = pair_of(merge, parts);
    const std::string name = "the merge of " + in_quotes(left) + " and " + in_quotes(right);
    read.rules.merges.push_back({need(left, name), need(right, name), need(left + right, name)});
  }
  return read;
}

}  // namespace stormcell
