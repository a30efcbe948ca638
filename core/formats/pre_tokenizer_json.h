// Reads the pre-tokenizer of a tokenizer.json. A step or pattern that is not known is refused by name.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/formats/text_pipeline.h"
#include "core/formats/tokenizer_json.h"
#include "core/formats/tokenizer_parts.h"

namespace stormcell {

/// Adds the steps to result.pre_tokenization; null: there are none.
void parse_pre_tokenizer(const nlohmann::json& step, const TokenizerParts& parts, TokenizerJson& result);
/// Whether Metaspace puts a space first.
PrependScheme prepend_scheme_of(const nlohmann::json& metaspace, const TokenizerParts& parts);

}  // namespace stormcell
