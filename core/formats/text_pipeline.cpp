#include "core/formats/text_pipeline.h"

#include "core/formats/unicode.h"
#include "core/formats/unicode_forms.h"

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

class SmallLetters : public Normalization {
 public:
  std::string apply(std::string_view text) const override { return small_letters(text); }
};

class Canonical : public Normalization {
 public:
  explicit Canonical(bool composes) : composes_(composes) {}
  std::string apply(std::string_view text) const override { return composes_ ? composed(text) : decomposed(text); }

 private:
  bool composes_;
};
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

std::unique_ptr<const Normalization> small_letters_normalization() { return std::make_unique<SmallLetters>(); }
std::unique_ptr<const Normalization> canonical_normalization(bool composed) {
  return std::make_unique<Canonical>(composed);
}

}  // namespace stormcell
