// Reads the JSON values of one file: one value a line, values over several lines, or the elements of one array. It
// parses one value at a time. Traces, answers of servers and data are read through it, so all accept the same: a byte
// order mark, CRLF, empty lines, a comma at the end of a line, a last line without an end.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/formats/text_lines.h"

namespace stormcell {

class JsonLines {
 public:
  /// Reads a text, which must outlive it.
  JsonLines(std::string_view text, const std::string& where) : lines_(text, where) {}
  /// Reads a file or standard input ("-"), as TextLines does.
  JsonLines(const std::string& path, size_t most_line, const Progress& progress) : lines_(path, most_line, progress) {}

  /// Reads the next value; false after the last. Error(bad_input) names the file and the line on which the value
  /// begins: it is not JSON, or the file ends in it.
  bool next(nlohmann::json& value);
  int64_t line() const { return line_; }  ///< the line on which the current value begins, from 1
  std::string place() const { return lines_.where() + ": line " + std::to_string(line_); }
  const TextLines& lines() const { return lines_; }  ///< empty lines between values are counted

 private:
  enum class State : uint8_t { begin, lines, array, end };

  bool find_value();
  bool skip_space();
  void find_end();
  void skip_last_comma();
  char peek() const { return lines_.line()[at_]; }
  [[noreturn]] void wrong(const std::string& what) const;

  TextLines lines_;
  State state_ = State::begin;
  size_t at_ = 0, end_ = 0;  // position in the current line
  int64_t line_ = 0;
  bool between_ = false;  // in an array: a comma or its end comes next
};

}  // namespace stormcell
