// tokenizer_config.json: the tokens that a model adds behind its SentencePiece vocabulary.
#pragma once
#include <string>
#include <vector>

#include "core/formats/added_tokens.h"

namespace stormcell {

/// Those of added_tokens_decoder that look like T5's <extra_id_N>; none when the file is not there.
std::vector<AddedToken> read_added_tokens(const std::string& path);

}  // namespace stormcell
