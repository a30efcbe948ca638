#include "core/formats/pre_tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;
const std::string kPreTokenizer = "the pre-tokenizer";

MatchBecomes match_of(const Json& step, bool is_text, const TokenizerParts& parts) {
  const std::string& behavior = parts.text(step, "behavior", kPreTokenizer);
  const bool invert = parts.flag(step, "invert", false);
  if (behavior == "Isolated") return MatchBecomes::word;  // inverted or not, the same parts are words
  if (behavior == "Removed") return invert ? MatchBecomes::the_only_words : MatchBecomes::nothing;
  if (behavior == "MergedWithPrevious" && is_text && !invert) return MatchBecomes::end_of_word;
  parts.unsupported(kPreTokenizer + " Split with the behavior", behavior + (invert ? ", inverted" : ""));
}

void add_split(const Json& step, const TokenizerParts& parts, PreTokenization& words) {
  const Json& pattern = parts.member(step, "pattern", kPreTokenizer);
  if (pattern.is_object() && pattern.contains("String")) {
    const std::string& text = parts.text(pattern, "String", kPreTokenizer);
    if (text.empty()) parts.refuse(kPreTokenizer + " splits at an empty text");
    words.steps.push_back(split_at_text(text, match_of(step, true, parts)));
    return;
  }
  const std::string& expression = parts.text(pattern, "Regex", kPreTokenizer);
  const WordRules* rules = word_rules_of(expression);
  if (!rules) parts.unsupported(kPreTokenizer + " \"Split\" with the pattern", expression);
  words.steps.push_back(split_by_rules(*rules, match_of(step, false, parts)));
}

std::string metaspace_replacement(const Json& step, const TokenizerParts& parts) {
  const std::string& replacement = parts.text(step, "replacement", "Metaspace");
  if (replacement.empty() || replacement.size() > 4) parts.refuse("the replacement of Metaspace is not one character");
  return replacement;
}
}  // namespace

PrependScheme prepend_scheme_of(const Json& metaspace, const TokenizerParts& parts) {
  if (metaspace.contains("prepend_scheme")) {
    const std::string& scheme = parts.text(metaspace, "prepend_scheme", "Metaspace");
    if (scheme == "always") return PrependScheme::always;
    if (scheme == "first") return PrependScheme::first;
    if (scheme == "never") return PrependScheme::never;
    parts.unsupported("Metaspace with the prepend_scheme", scheme);
  }
  return parts.flag(metaspace, "add_prefix_space", true) ? PrependScheme::always : PrependScheme::never;
}

void parse_pre_tokenizer(const Json& step, const TokenizerParts& parts, TokenizerJson& result) {
  if (step.is_null()) return;
  const std::string& type = parts.text(step, "type", kPreTokenizer);
  PreTokenization& words = result.pre_tokenization;
  if (type == "Sequence") {
    for (const Json& inner : parts.list(step, "pretokenizers", kPreTokenizer))
      parse_pre_tokenizer(inner, parts, result);
  } else if (type == "WhitespaceSplit") {
    words.steps.push_back(split_at_white_space());
  } else if (type == "Metaspace") {
    result.blank = metaspace_replacement(step, parts);
    words.steps.push_back(metaspace(result.blank, prepend_scheme_of(step, parts), parts.flag(step, "split", true)));
  } else if (type == "Split") {
    add_split(step, parts, words);
  } else if (type == "Digits") {
    words.steps.push_back(split_digits(parts.flag(step, "individual_digits", false)));
  } else if (type == "ByteLevel") {
    if (parts.flag(step, "add_prefix_space", true)) words.steps.push_back(space_first());
    if (parts.flag(step, "use_regex", true))
      words.steps.push_back(split_by_rules(word_rules("gpt2"), MatchBecomes::word));
    words.steps.push_back(bytes_as_characters());
  } else {
    parts.unsupported(kPreTokenizer, type);
  }
}

}  // namespace stormcell
