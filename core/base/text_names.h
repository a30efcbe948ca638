// Quoting of names in the text form; shared by its writer and its reader.
#pragma once
#include <string>
#include <string_view>

namespace stormcell {

/// A character that a name may hold outside of quotes.
inline bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-' || c == '~' || c == '+' || c == '*';
}

inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 32 || byte == 127) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// The name itself when plain, else quoted.
inline std::string text_name(std::string_view name) {
  bool plain = !name.empty();
  for (const char c : name) plain = plain && is_plain(c);
  return plain ? std::string(name) : quoted(name);
}

}  // namespace stormcell
