// Reads the lines of a text from any editor or shell: a byte order mark, CRLF, CR alone from old spreadsheets, a last
// line without an end. Delimited text, JSON lines and plain text are read through it, so all number their lines alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "core/base/progress.h"
#include "core/formats/file_range.h"

namespace stormcell {

/// Empty lines, which are left out.
struct EmptyLines {
  int64_t count = 0, first = 0;  ///< number of the first one, from 1
  /// The sentence "FILE: 3 empty lines are left out; the first is line 7". Empty: there were none.
  std::string warning(const std::string& where) const;
};

class TextLines {
 public:
  /// Reads a text, which must outlive it. Error(bad_input) that begins with `where` if it is UTF-16 or UTF-32.
  TextLines(std::string_view text, std::string where);
  /// Reads a file or standard input ("-"). A file is read piece by piece and may be packed with gzip. A line has at
  /// most `most` bytes.
  TextLines(const std::string& path, size_t most, const Progress& progress);
  TextLines(const TextLines&) = delete;
  TextLines& operator=(const TextLines&) = delete;

  /// Goes to the next line, also if it is empty. False after the last.
  bool next() {
    begin_ = next_;
    return take_line(next_);
  }
  /// Joins the next line to the current one, with the line end between them; number() is then that of the joined line.
  /// False after the last.
  bool extend() { return take_line(next_); }
  /// Goes to the next line that is not blank, and counts the lines that it skips.
  bool next_filled() {
    while (next()) {
      if (!is_blank(line_)) return true;
      count_empty();
    }
    return false;
  }

  std::string_view line() const { return line_; }  ///< without its end; valid until the next call
  int64_t number() const { return number_; }       ///< number of the line, from 1
  bool is_ended() const { return ended_; }         ///< false: the line is the last and has no line end
  const std::string& where() const { return where_; }
  std::string place() const { return where_ + ": line " + std::to_string(number_); }  ///< "FILE: line 7"
  size_t bytes_read() const { return dropped_ + next_; }
  /// The part of the text in memory, unpacked. Before the first line is read, this is its first MiB, or all of it if it
  /// is shorter or was given as a text.
  std::string_view at_hand() const { return text_; }

  const EmptyLines& empty_lines() const { return empty_; }
  void count_empty() {
    if (empty_.count++ == 0) empty_.first = number_;
  }

  static bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos; }

 private:
  bool take_line(size_t from) {
    const void* const end = from < text_.size() ? std::memchr(text_.data() + from, end_, text_.size() - from) : nullptr;
    if (!end) return take_far_line(from);
    end_line(static_cast<size_t>(static_cast<const char*>(end) - text_.data()));
    return true;
  }
  void end_line(size_t end) {
    line_ = text_.substr(begin_, end - begin_);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    next_ = end + 1;
    ++number_;
    if (line_.size() > most_) refuse_long();
  }
  [[noreturn]] void refuse_long() const;
  bool take_far_line(size_t from);
  bool read_more();
  void begin(std::string_view text);

  std::string where_;
  std::string_view text_;  // the whole text, or the part of a file that is in memory
  size_t begin_ = 0, next_ = 0;
  std::string_view line_;
  int64_t number_ = 0;
  EmptyLines empty_;
  char end_ = '\n';
  bool ended_ = true;
  FileRange file_;  // none: the text was given, or standard input was read whole
  size_t read_ = 0, dropped_ = 0, most_ = std::numeric_limits<size_t>::max();
  std::string held_;
};

}  // namespace stormcell
