// The special tokens before and behind a text, by the files of a tokenizer, and by the family of models where these are silent.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/tokenizer_config.h"

namespace stormcell {

struct TokenFrame {
  std::vector<int32_t> before, behind;

  /// `ids` with the tokens before and behind them.
  std::vector<int32_t> around(std::vector<int32_t> ids) const;
  bool holds(int32_t id) const;
};

/// A family's rule, for files that say nothing. T5 and Switch Transformers: an end token; Mixtral: a begin token.
struct FrameRule {
  bool begin = false, end = true;
};

/// The special tokens that a vocabulary has.
struct SpecialIds {
  int32_t begin = -1, end = -1;                                  ///< by the vocabulary itself; -1: none
  std::function<std::optional<int32_t>(std::string_view)> find;  ///< of a token by its text
};

/// The frame by tokenizer_config.json, and by the family where that is silent. Error(bad_input): a token is asked for that the vocabulary,
/// the file `where`, does not have.
TokenFrame frame_by(const TokenizerConfig& config, FrameRule rule, const SpecialIds& ids, const std::string& where);

/// A sentence for each side on which tokenizer_config.json asks for another frame than the post-processor of `where`, which is used.
std::vector<std::string> frame_contradictions(const TokenizerConfig& config, const TokenFrame& used, const std::string& where);

}  // namespace stormcell
