#include "core/formats/word_scanner.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/formats/unicode.h"

namespace stormcell {
namespace {
constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// The same in the spelling of tiktoken: possessive, and with one line end behind white space, which ends alike.
constexpr std::string_view kCl100k =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepseekIdeographs = "[一-龥\u3040-ゟ゠-ヿ]+";
constexpr std::string_view kDeepseek =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::array kWordRules = {
    WordRules{.name = "gpt2",
              .pattern = kGpt2,
              .contractions = Contractions::lower_case,
              .form = WordForm::blank_first,
              .line_ends = false},
    WordRules{.name = "llama3",
              .pattern = kLlama3,
              .contractions = Contractions::any_case,
              .form = WordForm::one_before,
              .digits = 3,
              .tail = "\r\n"},
    WordRules{.name = "cl100k",
              .pattern = kCl100k,
              .contractions = Contractions::any_case,
              .form = WordForm::one_before,
              .digits = 3,
              .tail = "\r\n"},
    WordRules{.name = "qwen2",
              .pattern = kQwen2,
              .contractions = Contractions::any_case,
              .form = WordForm::one_before,
              .digits = 1,
              .tail = "\r\n"},
    WordRules{.name = "qwen35",
              .pattern = kQwen35,
              .contractions = Contractions::any_case,
              .form = WordForm::with_marks,
              .digits = 1,
              .tail = "\r\n"},
    WordRules{.name = "o200k",
              .pattern = kO200k,
              .contractions = Contractions::any_case,
              .form = WordForm::by_case,
              .digits = 3,
              .tail = "\r\n/",
              .behind_words = true},
    WordRules{.name = "tekken", .pattern = kTekken, .form = WordForm::by_case, .digits = 1, .tail = "\r\n/"},
    WordRules{.name = "deepseek3-numbers", .pattern = R"(\p{N}{1,3})", .form = WordForm::numbers_alone, .digits = 3},
    WordRules{.name = "deepseek3-ideographs", .pattern = kDeepseekIdeographs, .form = WordForm::ideographs_alone},
    WordRules{.name = "deepseek3", .pattern = kDeepseek, .form = WordForm::after_symbols, .tail = "\r\n"},
};

bool is_capital(CharacterClass c) {
  return c == CharacterClass::upper || c == CharacterClass::title || c == CharacterClass::modifier ||
         c == CharacterClass::letter || c == CharacterClass::mark;
}
bool is_small(CharacterClass c) {
  return c == CharacterClass::lower || c == CharacterClass::modifier || c == CharacterClass::letter ||
         c == CharacterClass::mark;
}
bool is_letter(CharacterClass c) { return c >= CharacterClass::upper && c <= CharacterClass::letter; }
bool is_letter_or_mark(CharacterClass c) { return c >= CharacterClass::upper && c <= CharacterClass::mark; }
bool is_number(CharacterClass c) { return c == CharacterClass::number; }
bool is_symbol(CharacterClass c) { return c == CharacterClass::punctuation || c == CharacterClass::symbol; }
bool is_line_end(char32_t code) { return code == '\r' || code == '\n'; }
bool is_ideograph(char32_t code) { return (code >= 0x4E00 && code <= 0x9FA5) || (code >= 0x3040 && code <= 0x30FF); }
bool is_ascii_letter(char32_t code) { return (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z'); }

/// Walks one piece of text. A rule that does not match returns where it began.
class Scan {
 public:
  Scan(const WordRules& rules, std::string_view text) : rules_(rules), text_(text) {}

  size_t end(size_t at) const {
    if (rules_.form == WordForm::numbers_alone) return numbers(at);
    if (rules_.form == WordForm::ideographs_alone) return run(at, is_ideograph);
    if (rules_.contractions != Contractions::none && !rules_.behind_words)
      if (const size_t end = contraction(at); end != at) return end;
    if (const size_t end = word(at); end != at) return end;
    if (rules_.form != WordForm::after_symbols) {
      if (const size_t end = numbers(at); end != at) return end;
      if (const size_t end = all_else(at); end != at) return end;
    }
    if (rules_.line_ends)
      if (const size_t end = line_ends(at); end != at) return end;
    return blanks(at);
  }

 private:
  Character character(size_t at) const { return first_character(text_.substr(at)); }
  CharacterClass class_at(size_t at) const { return class_of(character(at).code); }

  /// The end of the characters from `at` on of which `holds` is true.
  size_t run(size_t at, bool (*holds)(char32_t)) const {
    while (at < text_.size()) {
      const Character c = character(at);
      if (!holds(c.code)) break;
      at += c.size;
    }
    return at;
  }
  size_t run(size_t at, bool (*holds)(CharacterClass)) const {
    while (at < text_.size()) {
      const Character c = character(at);
      if (!holds(class_of(c.code))) break;
      at += c.size;
    }
    return at;
  }
  size_t tail(size_t at) const {
    while (at < text_.size() && rules_.tail.find(text_[at]) != std::string_view::npos) ++at;
    return at;
  }
  size_t behind_blank(size_t at) const { return text_[at] == ' ' ? at + 1 : at; }

  size_t contraction(size_t at) const {
    if (at >= text_.size() || text_[at] != '\'') return at;
    const bool any_case = rules_.contractions == Contractions::any_case;
    for (const std::string_view letters : {"s", "t", "re", "ve", "m", "ll", "d"}) {
      const std::string_view found = text_.substr(at + 1, letters.size());
      const auto alike = [&](char a, char b) { return a == b || (any_case && a == b - 'a' + 'A'); };
      if (found.size() == letters.size() && std::equal(found.begin(), found.end(), letters.begin(), alike))
        return at + 1 + letters.size();
    }
    // The long s is a letter s of another case.
    constexpr std::string_view kLongS = "\u017F";
    return any_case && text_.substr(at + 1).starts_with(kLongS) ? at + 1 + kLongS.size() : at;
  }

  size_t word(size_t at) const {
    switch (rules_.form) {
      case WordForm::blank_first: {
        const size_t begin = behind_blank(at), end = run(begin, is_letter);
        return end == begin ? at : end;
      }
      case WordForm::one_before:
        return letters(at, is_letter);
      case WordForm::with_marks:
        return letters(at, is_letter_or_mark);
      case WordForm::by_case:
        return by_case(at);
      case WordForm::after_symbols:
        return after_symbols(at);
      case WordForm::numbers_alone:
      case WordForm::ideographs_alone:
        break;
    }
    return at;
  }

  /// Skips one character that is no letter, number or line end.
  size_t behind_one(size_t at) const {
    const Character c = character(at);
    const CharacterClass of = class_of(c.code);
    return is_line_end(c.code) || is_letter(of) || is_number(of) ? at : at + c.size;
  }

  size_t letters(size_t at, bool (*holds)(CharacterClass)) const {
    if (const size_t begin = behind_one(at); begin != at)
      if (const size_t end = run(begin, holds); end != begin) return end;
    return run(at, holds);
  }

  /// Ends a word of by_case, perhaps with a contraction.
  size_t word_end(size_t at) const { return rules_.behind_words ? contraction(at) : at; }

  size_t by_case(size_t at) const {
    const std::array<size_t, 2> begins = {behind_one(at), at};
    // First rule: capitals, as many as leave a small letter behind them, then small letters.
    for (const size_t begin : begins) {
      size_t last = begin;  // the last place in the run of capitals at which small letters begin
      bool found = false;
      for (size_t p = begin;;) {
        if (p >= text_.size()) break;
        const Character c = character(p);
        const CharacterClass of = class_of(c.code);
        if (is_small(of)) last = p, found = true;
        if (!is_capital(of)) break;
        p += c.size;
      }
      if (found) return word_end(run(last, is_small));
      if (begins[0] == at) break;
    }
    // Second rule: capitals, then perhaps small letters.
    for (const size_t begin : begins) {
      const size_t capitals = run(begin, is_capital);
      if (capitals != begin) return word_end(run(capitals, is_small));
      if (begins[0] == at) break;
    }
    return at;
  }

  size_t after_symbols(size_t at) const {
    const Character c = character(at);
    const CharacterClass of = class_of(c.code);
    const bool is_ascii_symbol = c.code > 0x20 && c.code < 0x7F && is_symbol(of);
    if (is_ascii_symbol)
      if (const size_t end = run(at + 1, is_ascii_letter); end != at + 1) return end;
    if (!is_line_end(c.code) && !is_letter(of) && !is_symbol(of))
      if (const size_t end = run(at + c.size, is_letter_or_mark); end != at + c.size) return end;
    if (const size_t end = run(at, is_letter_or_mark); end != at) return end;
    const size_t begin = behind_blank(at), end = run(begin, is_symbol);
    return end == begin ? at : tail(end);
  }

  size_t numbers(size_t at) const {
    if (rules_.digits == 0) {
      const size_t begin = behind_blank(at), end = run(begin, is_number);
      return end == begin ? at : end;
    }
    for (int digits = 0; digits < rules_.digits && at < text_.size(); ++digits) {
      const Character c = character(at);
      if (!is_number(class_of(c.code))) break;
      at += c.size;
    }
    return at;
  }

  size_t all_else(size_t at) const {
    const size_t begin = behind_blank(at);
    size_t end = begin;
    while (end < text_.size()) {
      const Character c = character(end);
      const CharacterClass of = class_of(c.code);
      if (is_white_space(c.code) || is_letter(of) || is_number(of)) break;
      if (rules_.form == WordForm::with_marks && of == CharacterClass::mark) break;
      end += c.size;
    }
    return end == begin ? at : tail(end);
  }

  /// Behind the last line end of a run of white space.
  size_t line_ends(size_t at) const {
    const size_t end = run(at, is_white_space);
    size_t found = end;
    while (found > at && !is_line_end(static_cast<unsigned char>(text_[found - 1]))) --found;
    return found;
  }

  /// The last blank of a run stays for the word behind it.
  size_t blanks(size_t at) const {
    const size_t end = run(at, is_white_space);
    if (end == at || end == text_.size()) return end;
    const size_t last = end - last_character(text_.substr(at, end - at)).size;
    return last == at ? end : last;
  }

  const WordRules& rules_;
  std::string_view text_;
};
}  // namespace

const WordRules* word_rules_of(std::string_view pattern) {
  // DeepSeek's files have line ends as characters, others as two letters.
  std::string spelled;
  for (const char c : pattern)
    if (c == '\r')
      spelled += "\\r";
    else if (c == '\n')
      spelled += "\\n";
    else
      spelled += c;
  const auto row =
      std::find_if(kWordRules.begin(), kWordRules.end(), [&](const WordRules& r) { return r.pattern == spelled; });
  return row == kWordRules.end() ? nullptr : &*row;
}

const WordRules& word_rules(std::string_view name) {
  return *std::find_if(kWordRules.begin(), kWordRules.end(), [&](const WordRules& r) { return r.name == name; });
}

size_t end_of_word(const WordRules& rules, std::string_view text, size_t at) { return Scan(rules, text).end(at); }

}  // namespace stormcell
