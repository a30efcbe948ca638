#include "core/formats/text_encoding.h"

#include <string>

#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

using namespace std::string_view_literals;

}  // namespace

std::string_view wide_encoding(std::string_view text) {
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) return "UTF-16";
  // Text without a mark has ASCII letters, each with a zero byte before or after it. A few of them, as in a number of
  // eight bytes, prove nothing.
  constexpr size_t kLooked = 16, kLeast = 10;
  const std::string_view first = text.substr(0, kLooked);
  for (const size_t high : {0, 1}) {
    bool wide = first.size() >= kLeast && text.size() % 2 == 0;
    for (size_t at = 0; wide && at < first.size(); ++at)
      wide = at % 2 == high ? first[at] == '\0' : first[at] >= '\t' && first[at] <= '~';
    if (wide) return "UTF-16";
  }
  return {};
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
  if (text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  return text;
}

std::string_view utf8_text(std::string_view text, std::string_view where) {
  if (const std::string_view wide = wide_encoding(text); !wide.empty()) {
    const std::string name(wide);
    const std::string files =
        where == "standard input" ? std::string() : " " + shell_word(std::string(where)) + " > NEW";
    bad_input(where, "is text in " + name, "save it as UTF-8: iconv -f " + name + " -t UTF-8" + files);
  }
  return without_mark(text);
}

}  // namespace stormcell
