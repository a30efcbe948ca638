#include "app/cli/text_printer.h"

#include <unistd.h>

#include <cstdlib>

#include "core/summary/terminal_text.h"

namespace stormcell::cli {
namespace {

/// By POSIX the first of them that is set decides.
std::string charset_of_terminal() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* locale = std::getenv(name); locale && *locale) return charset_of_locale(locale);
  return "ASCII";
}

}  // namespace

TextPrinter::TextPrinter(Console& console) : console_(console) {
  if (isatty(STDOUT_FILENO) == 0) return;
  const std::string charset = charset_of_terminal();
  ascii_ = !is_utf8_charset(charset);
  if (ascii_)
    console.warning("standard output: the terminal's character set is " + charset +
                    ", so characters beyond ASCII are shown as ? (set LANG to a UTF-8 locale, or write --json)");
}

void TextPrinter::begin(int64_t item, std::string_view prompt) {
  if (shown_ >= kMostTexts && !console_.options().all) return;
  ++shown_;
  Waiting& waiting = waiting_[item];
  const std::string number = std::to_string(item + 1);
  if (!prompt.empty()) waiting.text = "Prompt " + number + ":\n" + std::string(prompt) + "\n";
  waiting.text += "Text " + number + ":\n";
  print_what_may();
}

void TextPrinter::write(int64_t item, std::string_view text) {
  const auto at = waiting_.find(item);
  if (at == waiting_.end()) return;
  at->second.text += text;
  print_what_may();
}

void TextPrinter::end(int64_t item) {
  const auto at = waiting_.find(item);
  if (at == waiting_.end()) return;
  at->second.ended = true;
  print_what_may();
}

void TextPrinter::print_what_may() {
  while (!waiting_.empty()) {
    Waiting& first = waiting_.begin()->second;
    print(first.text);
    first.text.clear();
    if (!first.ended) return;
    print(ends_line_ ? "\n" : "\n\n");
    waiting_.erase(waiting_.begin());
  }
}

void TextPrinter::print(std::string_view text) {
  if (text.empty()) return;
  console_.print(terminal_text(text, ascii_));
  ends_line_ = text.ends_with('\n');
}

}  // namespace stormcell::cli
