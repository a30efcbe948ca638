// Cuts text into words as the patterns of today's tokenizers do. Each known pattern has rules for a scanner written
// here; no expression is evaluated.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

enum class Contractions { none, lower_case, any_case };
enum class WordForm {
  blank_first,      ///< " ?\p{L}+"
  one_before,       ///< "[^\r\n\p{L}\p{N}]?\p{L}+"
  with_marks,       ///< "[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+"
  by_case,          ///< capitals, then small letters, with marks; one character before them
  after_symbols,    ///< DeepSeek's: letters behind a symbol, letters and marks, punctuation
  numbers_alone,    ///< "\p{N}{1,3}" and nothing else
  ideographs_alone  ///< runs of CJK ideographs and kana, and nothing else
};

/// The rules of one pattern, tried in this order: contractions, words, numbers, all else, line ends, blanks.
struct WordRules {
  std::string_view name, pattern;
  Contractions contractions = Contractions::none;
  WordForm form = WordForm::blank_first;
  int digits = 0;              ///< most digits of a number; 0: any, with one blank before
  std::string_view tail = "";  ///< characters that follow all else: "[\r\n]*"
  bool line_ends = true;       ///< "\s*[\r\n]+"
  bool behind_words = false;   ///< contractions end a word instead of beginning one
};

/// Null: the pattern is not known.
const WordRules* word_rules_of(std::string_view pattern);
/// The rules of a name in this list: "gpt2", "llama3", "qwen2", "qwen35", "o200k", "tekken", "deepseek3-numbers",
/// "deepseek3-ideographs", "deepseek3".
const WordRules& word_rules(std::string_view name);

/// The end of the match that begins at byte `at` of `text`; `at` itself if none does. The text is valid UTF-8 and ends
/// with the piece that is cut.
size_t end_of_word(const WordRules& rules, std::string_view text, size_t at);

}  // namespace stormcell
