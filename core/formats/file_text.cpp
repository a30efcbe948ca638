#include "core/formats/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/formats/open_file.h"

namespace stormcell {

std::string read_file_text(const std::string& path, size_t limit) {
  const bool standard_input = path == "-";
  const OpenFile file = standard_input ? OpenFile::borrow(STDIN_FILENO) : OpenFile::open_regular(path);
  const std::string where = standard_input ? "standard input" : path;
  std::string text;
  text.reserve(standard_input ? 0 : std::min(limit, file.size()) + 1);  // one more, to see the end without growing
  for (;;) {
    const size_t had = text.size();
    const size_t want = had < text.capacity() ? text.capacity() - had : size_t{65536};
    text.resize(had + want);
    const ssize_t got = ::read(file.descriptor(), text.data() + had, want);
    text.resize(had + static_cast<size_t>(got > 0 ? got : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failed(where, std::string("cannot be read: ") + std::strerror(errno), "check the disk");
    if (text.size() > limit)
      bad_input(where, "is larger than " + to_text(Bytes(static_cast<int64_t>(limit))),
                "no file of this kind is that large; check that it is the right one");
    if (got == 0) return text;
  }
}

std::string shortened(std::string_view text) {
  constexpr size_t kLimit = 80;
  if (text.size() <= kLimit) return std::string(text);
  size_t end = kLimit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not through a character
  return std::string(text.substr(0, end)) + "...";
}

std::string in_quotes(std::string_view text) { return "\"" + shortened(text) + "\""; }

size_t find_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const size_t size = text.size();
  for (size_t i = 0; i < size;) {
    const unsigned char lead = bytes[i];
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                          : (lead & 0xF0) == 0xE0        ? 3
                          : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                         : 0;
    if (length == 0 || i + length > size) return i;
    // The second byte excludes overlong forms, surrogates and characters beyond U+10FFFF.
    const unsigned char low = lead == 0xE0   ? 0xA0
                              : lead == 0xF0 ? 0x90
                                             : 0x80,
                        high = lead == 0xED   ? 0x9F
                               : lead == 0xF4 ? 0x8F
                                              : 0xBF;
    if (bytes[i + 1] < low || bytes[i + 1] > high) return i;
    for (size_t k = 2; k < length; ++k)
      if ((bytes[i + k] & 0xC0) != 0x80) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%#=";
  if (!path.empty() && path[0] != '#' && path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace stormcell
