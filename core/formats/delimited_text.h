// Tables as text: a row a line, its fields between commas, semicolons or tabs (RFC 4180, and what spreadsheets make of it). Traces, calls
// and labels are read through it, so that each takes the same: a byte order mark, CRLF, quotes, blanks around fields, empty rows, empty
// fields behind a row, whole numbers written as 12.0 or 1e3. Refused, with line and column, is what no reader could know: a comma within
// a number, NaN, a row that is cut.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/text_lines.h"

namespace stormcell {

/// Whether lines that begin with # belong to the format.
enum class TableComments : uint8_t { none, hash };

/// Where a row's number goes; both null: the column is passed over.
struct NumberPlace {
  int64_t* whole = nullptr;
  float* real = nullptr;
};

class DelimitedText {
 public:
  enum class Line : uint8_t { end, comment, row };

  /// Of a text that outlives it; `advice`: what to do about a row that is wrong.
  DelimitedText(std::string_view text, const std::string& where, TableComments comments, std::string advice)
      : lines_(text, where), comments_(comments), advice_(std::move(advice)) {}

  /// Goes to the next comment or row; lines without anything in them are counted and passed over.
  Line next() {
    // Rows of numbers, nearly all of a trace, begin with a digit.
    begin_ = 0;
    if (!lines_.next()) return Line::end;
    const std::string_view line = lines_.line();
    if (!line.empty() && line.front() >= '0' && line.front() <= '9') return Line::row;
    return find_filled();
  }
  /// As next(), passing over comments. False at the end.
  bool next_row();

  /// The comment at hand as it was written: without the quotes and the empty fields that spreadsheets add.
  std::string comment() const;

  /// Reads the names of the columns from the row at hand. The separator that finds most of the `known` names is used for the rest of the
  /// text; if none finds any, commas are used. Error(bad_input): a name twice, one of `needed` missing.
  void read_names(std::span<const std::string_view> known, std::span<const std::string_view> needed);
  const std::vector<std::string>& names() const { return names_; }
  /// -1: there is none.
  int64_t column(std::string_view name) const;
  /// Sets the separator of a table without names: the first of comma, semicolon and tab that gives `columns` fields in the row at hand.
  void separate(size_t columns);

  /// The fields of the row at hand, without the blanks around them, as many as there are columns. Error(bad_input): another number of
  /// fields that are not empty, an open quote.
  const std::vector<std::string>& fields();
  /// The number that a field of fields() is. Error(bad_input): none, not finite, not whole.
  int64_t whole(size_t column) const;
  double real(size_t column) const;
  /// Numbers of the row at hand, a place for each column; fast where the row is plain.
  void numbers(std::span<const NumberPlace> places) {
    if (!plain_numbers(places)) read_numbers(places);
  }

  /// "FILE: line 7"
  std::string place() const { return lines_.where() + ": line " + std::to_string(begin_ ? begin_ : lines_.number()); }
  int64_t line_number() const { return lines_.number(); }
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = {}) const;
  /// "line 7, column 3: WHAT"
  [[noreturn]] void wrong_field(size_t column, const std::string& what, const std::string& advice = {}) const;
  const TextLines& lines() const { return lines_; }

 private:
  Line find_filled();
  bool is_empty_row(std::string_view line) const;
  void check_comment(std::string_view line) const;
  /// How a line was split.
  enum class Split : uint8_t { whole, open_quote, behind_quote };
  Split split(std::string_view line, char separator);
  void split_row();
  bool plain_numbers(std::span<const NumberPlace> places);
  void read_numbers(std::span<const NumberPlace> places);
  std::string name_of(size_t column) const;
  [[noreturn]] void refuse_fields() const;
  [[noreturn]] void refuse_number(size_t column, bool whole) const;

  TextLines lines_;
  TableComments comments_;
  std::string advice_;
  char separator_ = '\0';  // not known yet
  std::vector<std::string> names_, fields_;
  size_t columns_ = 0, used_ = 0;  // fields of a row; fields_ in use
  int64_t begin_ = 0;              // the first line of a row over several lines, 0: it has one
};

}  // namespace stormcell
