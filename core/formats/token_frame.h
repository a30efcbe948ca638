// The special tokens before and after a text. The files of a tokenizer decide; if they do not say it, the family of the
// model does.
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

  /// `ids` with the tokens before and after them.
  std::vector<int32_t> around(std::vector<int32_t> ids) const;
  bool holds(int32_t id) const;
};

/// The rule of a family, for files that say nothing. T5 and Switch Transformers: an end token; Mixtral: a begin token.
struct FrameRule {
  bool begin = false, end = true;
};

/// The special tokens in a vocabulary.
struct SpecialIds {
  int32_t begin = -1, end = -1;                                  ///< ids that the vocabulary itself names; -1: none
  std::function<std::optional<int32_t>(std::string_view)> find;  ///< the id of a token by its text
};

/// The frame by tokenizer_config.json, else by the family. Error(bad_input) if the vocabulary, the file `where`, does
/// not have a token that is asked for.
TokenFrame frame_by(const TokenizerConfig& config, FrameRule rule, const SpecialIds& ids, const std::string& where);

/// A sentence for each side on which tokenizer_config.json contradicts the post-processor of `where`. The
/// post-processor is used.
std::vector<std::string> frame_contradictions(const TokenizerConfig& config, const TokenFrame& used,
                                              const std::string& where);

}  // namespace stormcell
