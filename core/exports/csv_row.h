// Rows of tables for spreadsheets: fields that need quotes have them, numbers are written so that they read back equal.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell {

inline std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}
inline std::string csv_cell(int64_t value) { return std::to_string(value); }
inline std::string csv_cell(int32_t value) { return std::to_string(value); }
inline std::string csv_cell(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
inline std::string csv_cell(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Fields with commas between, without the end of the line.
template <class... T>
std::string csv_row(const T&... cells) {
  std::string line;
  bool first = true;
  ((line += (first ? "" : ","), line += csv_cell(cells), first = false), ...);
  return line;
}

}  // namespace stormcell
