// Reads the post-processor of a tokenizer.json: the special tokens that it puts before and after a text.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/formats/token_frame.h"
#include "core/formats/tokenizer_parts.h"

namespace stormcell {

/// Nothing if `step` is null: the file has no post-processor. TemplateProcessing, ByteLevel (which adds no token) and
/// sequences of them are read; others are refused by name.
std::optional<TokenFrame> parse_post_processor(const nlohmann::json& step, const TokenizerParts& parts);

}  // namespace stormcell
