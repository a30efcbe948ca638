#include "core/base/text_cursor.h"

#include <charconv>

#include "core/base/error.h"
#include "core/base/text_names.h"

namespace stormcell {

void TextCursor::skip_spaces() {
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) ++at_;
  if (at_ < line_.size() && line_[at_] == '#') at_ = line_.size();
}

void TextCursor::fail(std::string_view expected) {
  skip_spaces();
  constexpr size_t kShown = 24;
  std::string_view rest = line_.substr(at_);
  std::string came = "the end of the line";
  if (!rest.empty()) {
    // Complaints are one line of plain text, whatever bytes came.
    came = stormcell::quoted(rest.substr(0, kShown));
    if (rest.size() > kShown) came += "...";
  }
  complain("expected " + std::string(expected) + ", got " + came);
}

void TextCursor::complain(std::string_view what) const { bad_input(place(), what); }

bool TextCursor::at_end() {
  skip_spaces();
  return at_ == line_.size();
}

bool TextCursor::accept(std::string_view text) {
  skip_spaces();
  if (line_.substr(at_, text.size()) != text) return false;
  const size_t end = at_ + text.size();
  if (is_plain(text.back()) && end < line_.size() && is_plain(line_[end])) return false;
  at_ = end;
  return true;
}

void TextCursor::expect(std::string_view text) {
  if (!accept(text)) fail(stormcell::quoted(text));
}

bool TextCursor::sees(char c) {
  skip_spaces();
  return at_ < line_.size() && line_[at_] == c;
}

std::string TextCursor::quoted() {
  skip_spaces();
  if (!sees('"')) fail("a text in quotes");
  std::string text;
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  for (++at_; at_ < line_.size(); ++at_) {
    const char c = line_[at_];
    if (c == '"') {
      ++at_;
      return text;
    }
    if (c != '\\') {
      text += c;
      continue;
    }
    if (++at_ == line_.size()) break;
    switch (line_[at_]) {
      case '"':
      case '\\':
        text += line_[at_];
        break;
      case 'n':
        text += '\n';
        break;
      case 't':
        text += '\t';
        break;
      case 'x':
        if (at_ + 2 < line_.size() && digit(line_[at_ + 1]) >= 0 && digit(line_[at_ + 2]) >= 0) {
          text += static_cast<char>(digit(line_[at_ + 1]) * 16 + digit(line_[at_ + 2]));
          at_ += 2;
          break;
        }
        [[fallthrough]];
      default:
        fail("one of \\\" \\\\ \\n \\t \\xHH");
    }
  }
  fail("a closing quote");
}

std::string TextCursor::name(std::string_view what) {
  if (sees('"')) return quoted();
  const size_t from = at_;
  while (at_ < line_.size() && is_plain(line_[at_])) ++at_;
  if (at_ == from) fail(what);
  return std::string(line_.substr(from, at_ - from));
}

std::string TextCursor::value_name() {
  if (!accept("%")) fail("a value, %name,");
  return name("the name of a value");
}

int64_t TextCursor::integer(std::string_view what) {
  skip_spaces();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(line_.data() + at_, line_.data() + line_.size(), number);
  if (error != std::errc()) fail(what);
  at_ = static_cast<size_t>(end - line_.data());
  return number;
}

std::string_view TextCursor::until(std::string_view stops) {
  skip_spaces();
  const size_t from = at_;
  while (at_ < line_.size() && stops.find(line_[at_]) == std::string_view::npos && line_[at_] != '#') ++at_;
  std::string_view text = line_.substr(from, at_ - from);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace stormcell
