#include "core/summary/terminal_text.h"

#include <algorithm>

#include "core/formats/unicode.h"

namespace stormcell {
namespace {

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// C0 and C1: a terminal takes both for commands.
bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

}  // namespace

std::string charset_of_locale(std::string_view locale) {
  const size_t dot = locale.find('.');
  if (dot == std::string_view::npos) return "ASCII";
  const std::string_view charset = locale.substr(dot + 1);
  std::string name(charset.substr(0, charset.find('@')));
  std::ranges::transform(name, name.begin(), upper);
  return name.empty() ? "ASCII" : name;
}

bool is_utf8_charset(std::string_view charset) { return charset == "UTF-8" || charset == "UTF8"; }

std::string terminal_text(std::string_view utf8, bool ascii) {
  std::string text;
  while (!utf8.empty()) {
    const Character c = first_character(utf8);
    const bool command = is_control(c.code) && c.code != '\n' && c.code != '\t';
    if (ascii && (command || c.code >= 0x80))
      text += '?';
    else if (command)
      append_character(text, 0xFFFD);
    else
      text += utf8.substr(0, c.size);
    utf8.remove_prefix(c.size);
  }
  return text;
}

}  // namespace stormcell
