// The steps of the normalizer and of the pre-tokenizer of a tokenizer.json.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/charsmap.h"
#include "core/formats/word_scanner.h"

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

std::unique_ptr<const Normalization> small_letters_normalization();
/// NFC if `composed`, else NFD.
std::unique_ptr<const Normalization> canonical_normalization(bool composed);

/// A part of a text that is encoded by itself.
struct Word {
  std::string text;
  bool first = false;  ///< begins where the input begins
};

/// One step of pre-tokenisation: cuts a word into words.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void cut(const Word& word, std::vector<Word>& words) const = 0;
};

enum class PrependScheme { always, first, never };
/// The text that a match of a pattern becomes.
enum class MatchBecomes {
  word,            ///< a word by itself
  nothing,         ///< it is left out
  end_of_word,     ///< the end of the word before it
  the_only_words,  ///< a word, and the text between matches is left out
};

std::unique_ptr<const PreTokenizer> split_at_white_space();
/// Replaces spaces, and puts a replacement first. `cut`: each replacement begins a word.
std::unique_ptr<const PreTokenizer> metaspace(std::string replacement, PrependScheme prepend, bool cut);
/// `rules` lives as long as the program.
std::unique_ptr<const PreTokenizer> split_by_rules(const WordRules& rules, MatchBecomes match);
std::unique_ptr<const PreTokenizer> split_at_text(std::string pattern, MatchBecomes match);
/// Cuts out numbers, or each digit by itself.
std::unique_ptr<const PreTokenizer> split_digits(bool each);
/// Puts a space before a word that has none.
std::unique_ptr<const PreTokenizer> space_first();
/// Writes each byte as the character that stands for it.
std::unique_ptr<const PreTokenizer> bytes_as_characters();

/// Cuts normalised text into words by its steps.
struct PreTokenization {
  std::vector<std::unique_ptr<const PreTokenizer>> steps;

  /// `at_begin`: the text stands at the begin of the input.
  std::vector<Word> words(std::string_view text, bool at_begin) const;
};

}  // namespace stormcell
