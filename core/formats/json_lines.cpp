#include "core/formats/json_lines.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

constexpr const char* kCut = "the file may be cut; get it again";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool ends_word(char c) { return is_space(c) || c == ',' || c == ']' || c == '}' || c == '[' || c == '{' || c == '"'; }

}  // namespace

void JsonLines::wrong(const std::string& what) const { bad_input(lines_.place(), what, kCut); }

bool JsonLines::next(nlohmann::json& value) {
  if (!find_value()) return false;
  line_ = lines_.number();
  find_end();
  value = parse_json_text(lines_.line().substr(at_, end_ - at_), lines_.where(), {}, line_);
  at_ = end_;
  if (state_ == State::lines) skip_last_comma();
  return true;
}

/// A list that lost its brackets has a comma at the end of each line.
void JsonLines::skip_last_comma() {
  const std::string_view rest = lines_.line().substr(at_);
  const size_t comma = rest.find_first_not_of(" \t\r\n");
  if (comma != std::string_view::npos && rest[comma] == ',' && TextLines::is_blank(rest.substr(comma + 1)))
    at_ = lines_.line().size();
}

/// Goes to the beginning of the next value.
bool JsonLines::find_value() {
  if (state_ == State::begin) {
    if (!lines_.next_filled()) return false;
    at_ = 0, state_ = State::lines;
    skip_space();
    if (peek() == '[') state_ = State::array, ++at_;
  }
  if (state_ == State::end) return false;
  if (!skip_space()) {
    if (state_ == State::array) wrong("the file ends within its array");
    return false;
  }
  if (state_ == State::lines) return true;
  if (peek() == ']') {
    ++at_;
    state_ = State::end;
    if (skip_space()) wrong("has more text after its array: " + in_quotes(lines_.line().substr(at_, 12)));
    return false;
  }
  if (between_) {
    if (peek() != ',') wrong("expected ',' between values, got " + in_quotes(lines_.line().substr(at_, 12)));
    ++at_;
    if (!skip_space()) wrong("the file ends within its array");
  }
  between_ = true;
  return true;
}

/// Goes to the next line if this one has nothing more. False at the end of the file.
bool JsonLines::skip_space() {
  for (;;) {
    const std::string_view line = lines_.line();
    while (at_ < line.size() && is_space(line[at_])) ++at_;
    if (at_ < line.size()) return true;
    // Empty lines within an array are not counted as left out.
    if (!(state_ == State::array ? lines_.next() : lines_.next_filled())) return false;
    at_ = 0;
  }
}

/// Finds the end of a value by its brackets and quotes alone. The parser checks afterwards that it is JSON.
void JsonLines::find_end() {
  int64_t depth = 0;
  bool text = false;
  end_ = at_;
  for (;;) {
    const std::string_view line = lines_.line();
    for (; end_ < line.size(); ++end_) {
      const char c = line[end_];
      if (text) {
        if (c == '\\')
          ++end_;
        else if (c == '"')
          text = false;
        if (text || depth > 0) continue;
        ++end_;
        return;
      }
      if (c == '"') {
        text = true;
      } else if (c == '[' || c == '{') {
        if (++depth > JsonLimits().depth) {  // the parser reports the error
          ++end_;
          return;
        }
      } else if (c == ']' || c == '}') {
        if (--depth <= 0) {
          end_ += depth == 0;
          return;
        }
      } else if (depth == 0 && end_ > at_ && ends_word(c)) {
        return;
      }
    }
    if (depth == 0 && !text) return;
    if (text || !lines_.extend())
      bad_input(place(),
                text ? "the line ends in the middle of a text of its JSON"
                     : "the file ends in the middle of the JSON that begins here",
                kCut);
  }
}

}  // namespace stormcell
