// Scans JSON that consists mostly of numbers, without a tree of values: the reader of the format knows what comes
// where.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/text_encoding.h"

namespace stormcell {

/// A place in a text; every complaint names the file and the line. `path` must outlive it.
class JsonCursor {
 public:
  static constexpr const char* kRecordAgain = "record it again";

  JsonCursor(std::string_view text, const std::string& path)
      : text_(text), path_(path), at_(text.size() - utf8_text(text, path).size()) {}

  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kRecordAgain) const {
    bad_input(path_, "line " + std::to_string(line_) + ": " + what, advice);
  }
  void skip_space() {
    for (; at_ < text_.size() && is_space(text_[at_]); ++at_) line_ += text_[at_] == '\n';
  }
  char peek() {
    skip_space();
    if (at_ == text_.size()) wrong("the file ends in the middle", "it may be truncated; record it again");
    return text_[at_];
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const std::string& where) {
    if (!take(c)) wrong(where + ": expected '" + std::string(1, c) + "', got " + in_quotes(text_.substr(at_, 12)));
  }
  /// Reads a whole number, which may be written as 4.0 or 1e3. `name`: its name in errors.
  int64_t whole_number(std::string_view name, int64_t below) {
    peek();
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const size_t read = static_cast<size_t>(end - text_.data());
    const char next = read < text_.size() ? text_[read] : '\0';
    if (error == std::errc() && (next == '.' || next == 'e' || next == 'E')) {
      double real = 0;
      std::tie(end, error) = real_number(real);
      if (error == std::errc() && !(std::fabs(real) < kMostExact && real == std::floor(real)))
        error = std::errc::invalid_argument;
      value = error == std::errc() ? static_cast<int64_t>(real) : 0;
    }
    const auto length = static_cast<size_t>(end - text_.data()) - at_;
    if (error != std::errc()) wrong(std::string(name) + " is not a whole number: " + in_quotes(shown_number()));
    if (value < 0 || value >= below)
      wrong(std::string(name) + " is " + std::to_string(value) + ", 0 to " + std::to_string(below - 1) +
            " are allowed");
    at_ += length;
    return value;
  }
  /// Appends numbers that whole_number() would read, each with the comma behind it, until `out` holds `most` or the
  /// next one is not plainly such a number: that one is left unread. Traces of counts are mostly such numbers, so this
  /// keeps its place in registers and reports no errors.
  void plain_numbers(int64_t below, size_t most, std::vector<int64_t>& out) {
    constexpr std::ptrdiff_t kMostDigits = 18;  // whatever they are, the number fits
    const char* at = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    int64_t line = line_;
    while (out.size() < most) {
      const char* p = at;
      for (; p < end && is_space(*p); ++p) line += *p == '\n';
      const char* const digits = p;
      int64_t value = 0;
      for (; p < end && *p >= '0' && *p <= '9' && p - digits < kMostDigits; ++p) value = value * 10 + (*p - '0');
      if (p == digits || p == end || *p != ',' || value >= below) break;
      out.push_back(value);
      at = p + 1;
      line_ = line;
    }
    at_ = static_cast<size_t>(at - text_.data());
  }
  /// A string with its quotes.
  std::string_view string() {
    const size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
    if (at_ >= text_.size()) wrong("the file ends in the middle", "it may be truncated; record it again");
    ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// Skips one value without checking it: its readers check the text.
  void skip_value() {
    int depth = 0;
    do {
      // Skips numbers and the characters between them (blanks, commas, points and the like) in one go: they are nearly
      // all of it.
      while (depth > 0 && at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= ',' && text_[at_] <= '9'))) ++at_;
      const char c = peek();
      if (c == '"') {
        string();
        continue;
      }
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
      if (depth < 0) return;
      ++at_;
      if (depth == 0 && !(c == ']' || c == '}')) {
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ',' && text_[at_] != '}' &&
               text_[at_] != ']')
          ++at_;
        return;
      }
    } while (depth > 0);
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  size_t at() const { return at_; }
  int64_t line() const { return line_; }
  void start(size_t at, int64_t line) { at_ = at, line_ = line; }

 private:
  static constexpr double kMostExact = 9007199254740992;  // 2^53: below, each whole number has a value of its own

  std::pair<const char*, std::errc> real_number(double& value) const {
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    return {end, error};
  }
  /// The number at the cursor for a complaint. If a comma or a bracket is there, it is what follows.
  std::string_view shown_number() const {
    constexpr size_t kMostShown = 24, kMostFollowing = 12;
    const size_t length = text_.substr(at_).find_first_of(",]}: \t\r\n");
    return text_.substr(at_, length == 0 ? kMostFollowing : std::min(length, kMostShown));
  }
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace stormcell
