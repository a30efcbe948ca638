#include "core/formats/json_outline.h"

#include <cstdint>

#include "core/formats/text_encoding.h"

namespace stormcell {
namespace {

constexpr size_t kMostKeys = 200, kMostText = 200;

class Outliner {
 public:
  explicit Outliner(std::string_view text) : text_(without_mark(text)) {}

  JsonOutline read() {
    const char first = peek();
    if (first == '{') {
      read_object(JsonOutline::Shape::object);
      if (ended_ && peek() == ',') ++at_;  // a list that lost its brackets
      if (ended_ && peek() == '{') out_.shape = JsonOutline::Shape::lines;
    } else if (first == '[') {
      ++at_;
      const char element = peek();
      out_.lists_lists = element == '[';
      if (element == '{')
        read_object(JsonOutline::Shape::list);
      else if (begins_value(element) || element == ']')
        out_.shape = JsonOutline::Shape::list;
    }
    return std::move(out_);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  static bool begins_value(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '"' || c == '[' || c == '{' || c == 't' || c == 'f' || c == 'n' ||
           c == 'N' || c == 'I';
  }
  /// The next character; '\0': the head ends.
  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// Reads a text without its quotes; false if the head ends within it.
  bool take_string(std::string_view& value) {
    const size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
    if (at_ >= text_.size()) return false;
    value = text_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }
  /// Skips a value; false if the head ends within it.
  bool skip_value() {
    int64_t depth = 0;
    std::string_view ignored;
    do {
      const char c = peek();
      if (c == '\0') return false;
      if (c == '"') {
        if (!take_string(ignored)) return false;
        continue;
      }
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
      if (depth < 0) return true;
      ++at_;
      if (depth == 0 && c != ']' && c != '}')
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ',' && text_[at_] != '}' &&
               text_[at_] != ']')
          ++at_;
    } while (depth > 0);
    return true;
  }

  /// The shape is known as soon as a brace is followed by a key and a colon, or by the closing brace.
  void read_object(JsonOutline::Shape shape) {
    ++at_;
    while (true) {
      const char c = peek();
      if (c == '}') {
        out_.shape = shape, ended_ = true;
        ++at_;
        return;
      }
      std::string_view key, value;
      if (c != '"' || !take_string(key) || peek() != ':') return;
      ++at_;
      out_.shape = shape;
      if (out_.keys.size() < kMostKeys) out_.keys.emplace_back(key.substr(0, kMostText));
      if (peek() == '"') {
        if (!take_string(value)) return;
        if (value.size() <= kMostText && out_.texts.size() < kMostKeys)
          out_.texts.emplace(key.substr(0, kMostText), value);
      } else if (!skip_value()) {
        return;
      }
      if (peek() == ',') ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool ended_ = false;
  JsonOutline out_;
};

}  // namespace

JsonOutline outline_json(std::string_view head) { return Outliner(head).read(); }

}  // namespace stormcell
