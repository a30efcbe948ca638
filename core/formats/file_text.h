// Whole small files as bytes, and names from untrusted files made fit for an error message.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stormcell {

/// Reads a regular file of at most `limit` bytes; "-" reads standard input. Bad input: missing, a folder, not readable,
/// too large.
std::string read_file_text(const std::string& path, size_t limit);

/// A path for shell commands in advice: in single quotes unless all its characters are plain.
std::string shell_word(const std::string& path);

/// The text, cut after about 80 bytes.
std::string shortened(std::string_view text);

/// The text in double quotes, shortened.
std::string in_quotes(std::string_view text);

/// The offset of the first byte that does not belong to valid UTF-8 (RFC 3629), or npos.
size_t find_invalid_utf8(std::string_view text);

}  // namespace stormcell
