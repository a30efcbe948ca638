// The steps that cut text into words: those of text_pipeline.h.
#include <algorithm>

#include "core/formats/byte_alphabet.h"
#include "core/formats/text_pipeline.h"
#include "core/formats/unicode.h"

namespace stormcell {
namespace {
/// Hands out the parts of a word in order, with the flag of its begin.
class WordParts {
 public:
  WordParts(const Word& word, std::vector<Word>& words) : word_(word), words_(words) {}
  void add(size_t begin, size_t end) {
    if (begin < end) words_.push_back({word_.text.substr(begin, end - begin), word_.first && begin == 0});
  }

 private:
  const Word& word_;
  std::vector<Word>& words_;
};

/// Puts matches and the text between them together as words.
class Matches {
 public:
  Matches(const Word& word, MatchBecomes becomes, std::vector<Word>& words)
      : parts_(word, words), size_(word.text.size()), becomes_(becomes) {}

  void match(size_t begin, size_t end) {
    if (becomes_ == MatchBecomes::end_of_word) {
      // A match right behind a match has no word before it and is one.
      parts_.add(done_, end);
    } else {
      if (becomes_ != MatchBecomes::the_only_words) parts_.add(done_, begin);
      if (becomes_ != MatchBecomes::nothing) parts_.add(begin, end);
    }
    done_ = end;
  }
  void finish() {
    if (becomes_ != MatchBecomes::the_only_words) parts_.add(done_, size_);
  }

 private:
  WordParts parts_;
  size_t size_, done_ = 0;
  MatchBecomes becomes_;
};

class WhiteSpaceSplit : public PreTokenizer {
 public:
  void cut(const Word& word, std::vector<Word>& words) const override {
    Matches matches(word, MatchBecomes::nothing, words);
    for (size_t at = 0; at < word.text.size();) {
      const Character c = first_character(std::string_view(word.text).substr(at));
      if (is_white_space(c.code)) matches.match(at, at + c.size);
      at += c.size;
    }
    matches.finish();
  }
};

class Metaspace : public PreTokenizer {
 public:
  Metaspace(std::string replacement, PrependScheme prepend, bool cut)
      : replacement_(std::move(replacement)), prepend_(prepend), cut_(cut) {}

  void cut(const Word& word, std::vector<Word>& words) const override {
    std::string text;
    for (const char c : word.text)
      if (c == ' ')
        text += replacement_;
      else
        text += c;
    if ((prepend_ == PrependScheme::always || (prepend_ == PrependScheme::first && word.first)) &&
        !text.starts_with(replacement_))
      text.insert(0, replacement_);
    if (!cut_) {
      words.push_back({std::move(text), word.first});
      return;
    }
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(replacement_, begin + 1), text.size());
      words.push_back({text.substr(begin, end - begin), word.first && begin == 0});
      begin = end;
    }
  }

 private:
  std::string replacement_;
  PrependScheme prepend_;
  bool cut_;
};

class RuleSplit : public PreTokenizer {
 public:
  RuleSplit(const WordRules& rules, MatchBecomes match) : rules_(rules), match_(match) {}

  void cut(const Word& word, std::vector<Word>& words) const override {
    const std::string_view text = word.text;
    Matches matches(word, match_, words);
    for (size_t at = 0; at < text.size();) {
      const size_t end = end_of_word(rules_, text, at);
      if (end == at) {
        at += first_character(text.substr(at)).size;
        continue;
      }
      matches.match(at, end);
      at = end;
    }
    matches.finish();
  }

 private:
  const WordRules& rules_;
  MatchBecomes match_;
};

class TextSplit : public PreTokenizer {
 public:
  TextSplit(std::string pattern, MatchBecomes match) : pattern_(std::move(pattern)), match_(match) {}

  void cut(const Word& word, std::vector<Word>& words) const override {
    Matches matches(word, match_, words);
    for (size_t at = word.text.find(pattern_); at != std::string::npos;
         at = word.text.find(pattern_, at + pattern_.size()))
      matches.match(at, at + pattern_.size());
    matches.finish();
  }

 private:
  std::string pattern_;
  MatchBecomes match_;
};

class DigitSplit : public PreTokenizer {
 public:
  explicit DigitSplit(bool each) : each_(each) {}

  void cut(const Word& word, std::vector<Word>& words) const override {
    Matches matches(word, MatchBecomes::word, words);
    constexpr size_t kNone = std::string::npos;
    size_t begin = kNone;  // of the number at hand
    for (size_t at = 0; at < word.text.size();) {
      const Character c = first_character(std::string_view(word.text).substr(at));
      const bool is_digit = class_of(c.code) == CharacterClass::number;
      if (is_digit && each_) matches.match(at, at + c.size);
      if (is_digit && !each_ && begin == kNone) begin = at;
      if (!is_digit && begin != kNone) {
        matches.match(begin, at);
        begin = kNone;
      }
      at += c.size;
    }
    if (begin != kNone) matches.match(begin, word.text.size());
    matches.finish();
  }

 private:
  bool each_;
};

class SpaceFirst : public PreTokenizer {
 public:
  void cut(const Word& word, std::vector<Word>& words) const override {
    words.push_back(word.text.starts_with(' ') ? word : Word{" " + word.text, word.first});
  }
};

class BytesAsCharacters : public PreTokenizer {
 public:
  void cut(const Word& word, std::vector<Word>& words) const override {
    words.push_back({characters_of_bytes(word.text), word.first});
  }
};
}  // namespace

std::unique_ptr<const PreTokenizer> split_at_white_space() { return std::make_unique<WhiteSpaceSplit>(); }
std::unique_ptr<const PreTokenizer> metaspace(std::string replacement, PrependScheme prepend, bool cut) {
  return std::make_unique<Metaspace>(std::move(replacement), prepend, cut);
}
std::unique_ptr<const PreTokenizer> split_by_rules(const WordRules& rules, MatchBecomes match) {
  return std::make_unique<RuleSplit>(rules, match);
}
std::unique_ptr<const PreTokenizer> split_at_text(std::string pattern, MatchBecomes match) {
  return std::make_unique<TextSplit>(std::move(pattern), match);
}
std::unique_ptr<const PreTokenizer> split_digits(bool each) { return std::make_unique<DigitSplit>(each); }
std::unique_ptr<const PreTokenizer> space_first() { return std::make_unique<SpaceFirst>(); }
std::unique_ptr<const PreTokenizer> bytes_as_characters() { return std::make_unique<BytesAsCharacters>(); }

std::vector<Word> PreTokenization::words(std::string_view text, bool at_begin) const {
  std::vector<Word> words;
  if (!text.empty()) words.push_back({std::string(text), at_begin});
  for (const auto& step : steps) {
    std::vector<Word> cut;
    for (const Word& word : words) step->cut(word, cut);
    words = std::move(cut);
  }
  return words;
}

}  // namespace stormcell
