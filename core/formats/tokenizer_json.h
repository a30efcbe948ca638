// Reads and checks the parts of a tokenizer.json (Hugging Face `tokenizers`, Unigram and BPE models). A part that this
// version cannot reproduce is refused by name.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/added_tokens.h"
#include "core/formats/byte_pairs.h"
#include "core/formats/sentencepiece_model.h"
#include "core/formats/text_pipeline.h"
#include "core/formats/token_frame.h"

namespace stormcell {

struct TokenizerJson {
  std::vector<Piece> pieces;
  std::optional<int32_t> unknown_id;
  bool byte_fallback = false;
  std::optional<BytePairRules> byte_pairs;  ///< the BPE model; none: Unigram
  std::vector<std::unique_ptr<const Normalization>> normalizations;
  PreTokenization pre_tokenization;
  std::vector<AddedToken> added;
  std::optional<TokenFrame> frame;     ///< from the post-processor; none: the file has none
  int32_t pad_id = -1;                 ///< -1: none
  bool bytes_as_characters = false;    ///< decoding: the characters of pieces stand for bytes
  std::string blank = "\xE2\x96\x81";  ///< decoding: the character that stands for a space
  bool drop_first_space = true;        ///< decoding: the space that encoding put before the text

  /// The id of a token or piece by its text.
  std::optional<int32_t> find(std::string_view content) const;
};

class Tokenizer;
/// The tokenizer that these parts make; `where` is its file.
std::shared_ptr<Tokenizer> tokenizer_of(TokenizerJson parts, const std::string& where, FrameRule rule,
                                        const TokenizerConfig& config);

TokenizerJson parse_tokenizer_json(std::string_view json, const std::string& where);

}  // namespace stormcell
