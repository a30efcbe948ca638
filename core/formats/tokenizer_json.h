// The parts of a tokenizer.json (Hugging Face `tokenizers`, Unigram models), checked. What cannot be done alike is refused by name.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/added_tokens.h"
#include "core/formats/sentencepiece_model.h"
#include "core/formats/text_pipeline.h"

namespace stormcell {

struct TokenizerJson {
  std::vector<Piece> pieces;
  std::optional<int32_t> unknown_id;
  bool byte_fallback = false;
  std::vector<std::unique_ptr<const Normalization>> normalizations;
  PreTokenization pre_tokenization;
  std::vector<AddedToken> added;
  int32_t end_id = -1;  ///< -1: none
  int32_t pad_id = 0;
  bool drop_first_space = true;  ///< decoding: the space that encoding put before the text
};

TokenizerJson parse_tokenizer_json(std::string_view json, const std::string& where);

}  // namespace stormcell
