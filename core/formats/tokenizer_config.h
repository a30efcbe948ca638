// Reads a tokenizer's configuration: tokenizer_config.json, and special_tokens_map.json of older releases.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/added_tokens.h"

namespace stormcell {

/// A begin or end token, as the files state it.
struct ConfiguredToken {
  std::optional<bool> is_added;  ///< add_bos_token, add_eos_token
  std::string text;              ///< bos_token, eos_token; empty: not stated
  bool is_null = false;          ///< the token is null: there is none
};

struct TokenizerConfig {
  std::string path = "tokenizer_config.json";
  ConfiguredToken begin, end;
  std::optional<bool> begins_with_blank;  ///< add_prefix_space
  std::vector<AddedToken> added;          ///< added_tokens_decoder
};

/// Reads both files; either may be missing. Error(bad_input) if a file is not JSON or a value has another form.
TokenizerConfig read_tokenizer_config(const std::string& folder);

/// Reads the text of tokenizer_config.json only.
TokenizerConfig parse_tokenizer_config(std::string_view json, const std::string& path);

}  // namespace stormcell
