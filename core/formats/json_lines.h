// JSON values one after another in one file: a value a line, as servers append them, values over several lines, or the elements of one
// array. One is parsed at a time. Traces, answers of servers and data are read through it, so that each takes the same: a byte order mark,
// CRLF, empty lines, a last line without an end.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/formats/text_lines.h"

namespace stormcell {

class JsonLines {
 public:
  /// Of a text that outlives it.
  JsonLines(std::string_view text, const std::string& where) : lines_(text, where) {}
  /// Of a file, or of standard input ("-"), as TextLines takes them.
  JsonLines(const std::string& path, size_t most_line, const Progress& progress) : lines_(path, most_line, progress) {}

  /// The next value; false behind the last. Error(bad_input) that names the file and the line on which the value begins: no JSON, a value
  /// that the file ends in.
  bool next(nlohmann::json& value);
  int64_t line() const { return line_; }  ///< on which the value at hand begins, from 1
  std::string place() const { return lines_.where() + ": line " + std::to_string(line_); }
  const TextLines& lines() const { return lines_; }  ///< empty ones between values are counted

 private:
  enum class State : uint8_t { begin, lines, array, end };

  bool find_value();
  bool skip_space();
  void find_end();
  char peek() const { return lines_.line()[at_]; }
  [[noreturn]] void wrong(const std::string& what) const;

  TextLines lines_;
  State state_ = State::begin;
  size_t at_ = 0, end_ = 0;  // of the value in the line at hand
  int64_t line_ = 0;
  bool between_ = false;  // of an array: a comma or the end comes next
};

}  // namespace stormcell
