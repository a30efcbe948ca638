#include "core/formats/text_pipeline.h"

#include "core/formats/unicode.h"

namespace stormcell {
namespace {
class Precompiled : public Normalization {
 public:
  explicit Precompiled(CharsMap map) : map_(std::move(map)) {}
  std::string apply(std::string_view text) const override {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
      const size_t cluster = grapheme_size(text);
      if (cluster < kLongCluster)
        if (const auto replacement = map_.shortest_match(text.substr(0, cluster))) {
          result += *replacement;
          text.remove_prefix(cluster);
          continue;
        }
      for (size_t done = 0; done < cluster;) {
        const std::string_view character = text.substr(done, first_character(text.substr(done)).size);
        result += map_.shortest_match(character).value_or(character);
        done += character.size();
      }
      text.remove_prefix(cluster);
    }
    return result;
  }

 private:
  static constexpr size_t kLongCluster = 6;
  CharsMap map_;
};

class Strip : public Normalization {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  std::string apply(std::string_view text) const override {
    if (left_) text = trim_left(text);
    if (right_) text = trim_right(text);
    return std::string(text);
  }

 private:
  bool left_, right_;
};

std::string replaced(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string result;
  for (size_t at; (at = text.find(pattern)) != std::string_view::npos; text.remove_prefix(at + pattern.size())) {
    result += text.substr(0, at);
    result += content;
  }
  return result += text;
}

class Replace : public Normalization {
 public:
  Replace(std::string pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  std::string apply(std::string_view text) const override {
    return pattern_.empty() ? std::string(text) : replaced(text, pattern_, content_);
  }

 private:
  std::string pattern_, content_;
};

class ReplaceSpaceRuns : public Normalization {
 public:
  explicit ReplaceSpaceRuns(std::string content) : content_(std::move(content)) {}
  std::string apply(std::string_view text) const override {
    std::string result;
    for (size_t at; (at = text.find("  ")) != std::string_view::npos;) {
      result += text.substr(0, at);
      result += content_;
      const size_t end = text.find_first_not_of(' ', at);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    }
    return result += text;
  }

 private:
  std::string content_;
};

class Prepend : public Normalization {
 public:
  explicit Prepend(std::string content) : content_(std::move(content)) {}
  std::string apply(std::string_view text) const override {
    return text.empty() ? std::string() : content_ + std::string(text);
  }

 private:
  std::string content_;
};

std::vector<std::string_view> at_white_space(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0, at = 0;
  while (at < text.size()) {
    const Character c = first_character(text.substr(at));
    if (is_white_space(c.code)) {
      if (at > begin) words.push_back(text.substr(begin, at - begin));
      begin = at + c.size;
    }
    at += c.size;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}
}  // namespace

std::unique_ptr<const Normalization> precompiled_normalization(CharsMap map) {
  return std::make_unique<Precompiled>(std::move(map));
}
std::unique_ptr<const Normalization> strip_normalization(bool left, bool right) {
  return std::make_unique<Strip>(left, right);
}
std::unique_ptr<const Normalization> replace_normalization(std::string pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
std::unique_ptr<const Normalization> replace_space_runs_normalization(std::string content) {
  return std::make_unique<ReplaceSpaceRuns>(std::move(content));
}
std::unique_ptr<const Normalization> prepend_normalization(std::string content) {
  return std::make_unique<Prepend>(std::move(content));
}

std::vector<std::string> PreTokenization::words(std::string_view text, bool at_begin) const {
  const std::vector<std::string_view> rough =
      split_white_space ? at_white_space(text) : std::vector<std::string_view>{text};
  std::vector<std::string> words;
  for (const std::string_view part : rough) {
    if (part.empty()) continue;
    if (!metaspace) {
      words.emplace_back(part);
      continue;
    }
    std::string word = replaced(part, " ", replacement);
    const bool first = at_begin && part.data() == text.data();
    if ((prepend == PrependScheme::always || (prepend == PrependScheme::first && first)) &&
        !word.starts_with(replacement))
      word.insert(0, replacement);
    if (!split_words) {
      words.push_back(std::move(word));
      continue;
    }
    for (size_t begin = 0; begin < word.size();) {
      const size_t end = word.find(replacement, begin + 1);
      words.push_back(word.substr(begin, end == std::string::npos ? end : end - begin));
      begin = end == std::string::npos ? word.size() : end;
    }
  }
  return words;
}

}  // namespace stormcell
