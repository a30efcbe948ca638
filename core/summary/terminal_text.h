// Text that a model wrote, as a terminal may show it: it must not move the cursor, and a terminal may know no UTF-8.
#pragma once
#include <string>
#include <string_view>

namespace stormcell {

/// The character set that a locale names, as LC_ALL, LC_CTYPE and LANG do: "UTF-8", "ISO-8859-1"; "ASCII" for C, POSIX
/// and a locale that names none.
std::string charset_of_locale(std::string_view locale);
bool is_utf8_charset(std::string_view charset);

/// Control characters, but new lines and tabs, become U+FFFD. `ascii`: all characters beyond ASCII become "?". `utf8` is
/// valid.
std::string terminal_text(std::string_view utf8, bool ascii);

}  // namespace stormcell
