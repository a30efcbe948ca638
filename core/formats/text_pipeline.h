// The normalizer and pre-tokenizer of a tokenizer.json: the steps that T5-like tokenizers are made of.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/charsmap.h"

namespace stormcell {

/// One step of normalisation: text to text.
class Normalization {
 public:
  virtual ~Normalization() = default;
  virtual std::string apply(std::string_view text) const = 0;
};

/// The rules of a precompiled_charsmap as the `tokenizers` library applies them: a grapheme cluster of less than 6
/// bytes is replaced whole by the shortest rule that matches its beginning, all else character by character.
/// (SentencePiece takes the longest rule.)
std::unique_ptr<const Normalization> precompiled_normalization(CharsMap map);
std::unique_ptr<const Normalization> strip_normalization(bool left, bool right);
/// Replaces every occurrence of `pattern` by `content`.
std::unique_ptr<const Normalization> replace_normalization(std::string pattern, std::string content);
/// Replaces every run of two or more spaces by `content`.
std::unique_ptr<const Normalization> replace_space_runs_normalization(std::string content);
std::unique_ptr<const Normalization> prepend_normalization(std::string content);

enum class PrependScheme { always, first, never };

/// Cuts normalised text into words, each encoded by itself.
struct PreTokenization {
  bool split_white_space = false;  ///< WhitespaceSplit before Metaspace
  bool metaspace = false;
  std::string replacement = "\xE2\x96\x81";
  PrependScheme prepend = PrependScheme::always;
  bool split_words = true;  ///< at every replacement, which begins the word

  /// `at_begin`: the text is at the beginning of the input.
  std::vector<std::string> words(std::string_view text, bool at_begin) const;
};

}  // namespace stormcell
