// Reads tables as text: one row a line, fields separated by commas, semicolons or tabs (RFC 4180 and the variants of
// spreadsheets). Traces, calls and labels are read through it, so all accept the same: a byte order mark, CRLF, quotes,
// blanks around fields, empty rows, empty fields at the end of a row, whole numbers written as 12.0 or 1e3. Errors name
// line and column. They refuse ambiguous input: a comma within a number, NaN, a row that is cut.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/text_lines.h"

namespace stormcell {

/// Whether the format has comments: lines that begin with #.
enum class TableComments : uint8_t { none, hash };

/// The destination of a number of the row; both null: the column is skipped.
struct NumberPlace {
  int64_t* whole = nullptr;
  float* real = nullptr;
};

/// The text behind a first line such as "sep=;", which a spreadsheet writes; the whole text if there is no such line.
std::string_view behind_separator_line(std::string_view text);

class DelimitedText {
 public:
  enum class Line : uint8_t { end, comment, row };

  /// Reads a text, which must outlive it. `advice`: remedy for a wrong row.
  DelimitedText(std::string_view text, const std::string& where, TableComments comments, std::string advice)
      : lines_(text, where), comments_(comments), advice_(std::move(advice)) {}

  /// Goes to the next comment or row. Empty lines are counted and skipped.
  Line next() {
    // Nearly all lines of a trace are rows of numbers and begin with a digit.
    begin_ = 0;
    if (!lines_.next()) return Line::end;
    const std::string_view line = lines_.line();
    if (!line.empty() && line.front() >= '0' && line.front() <= '9') return Line::row;
    return find_filled();
  }
  /// As next(), but skips comments. False at the end.
  bool next_row();
  /// The sentence "FILE: 2 comments have as many fields as the line of names; ..." about comments that next_row()
  /// skipped and that may be rows. Empty: there were none.
  std::string warning_of_comments() const;

  /// The current comment, without the quotes and empty fields that spreadsheets add.
  std::string comment() const;

  /// Reads the names of the columns from the current row. The separator that finds most of the `known` names is used
  /// for the rest of the text; if none finds any, it is the comma. Error(bad_input) if a name occurs twice or one of
  /// `needed` is missing.
  void read_names(std::span<const std::string_view> known, std::span<const std::string_view> needed);
  const std::vector<std::string>& names() const { return names_; }
  /// The index of a column; -1: there is none.
  int64_t column(std::string_view name) const;
  /// Tells whether the fields of a row are those that the reader expects.
  using Fits = std::function<bool(std::span<const std::string> fields)>;
  /// Sets the separator of a table without names: the first of comma, semicolon and tab that gives `columns` fields in
  /// the current row. If there are several, it is the first whose fields fit. False if no fields fit.
  bool separate(size_t columns, const Fits& fits = {});
  /// Sets the separator that another reader of the same text has found.
  void separate_as(const DelimitedText& other) { columns_ = other.columns_, separator_ = other.separator_; }

  /// The fields of the current row, one for each column, without blanks around them. Error(bad_input) if another number
  /// of fields is not empty, or if a quote is open.
  const std::vector<std::string>& fields();
  /// The number in a field of fields(). Error(bad_input) if it is not a number, not finite or not whole.
  int64_t whole(size_t column) const;
  double real(size_t column) const;
  /// Reads the numbers of the current row into one destination for each column; fast if the row is plain.
  void numbers(std::span<const NumberPlace> places) {
    if (!plain_numbers(places)) read_numbers(places);
  }

  /// "FILE: line 7"
  std::string place() const { return lines_.where() + ": line " + std::to_string(begin_ ? begin_ : lines_.number()); }
  int64_t line_number() const { return lines_.number(); }
  /// "correct line 6": the advice on a value that is wrong in a single row.
  std::string correct_line() const;
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = {}) const;
  /// "line 7, column 3: WHAT"
  [[noreturn]] void wrong_field(size_t column, const std::string& what, const std::string& advice = {}) const;
  const TextLines& lines() const { return lines_; }

 private:
  Line find_filled();
  bool is_empty_row(std::string_view line) const;
  void check_comment(std::string_view line) const;
  void count_like_row();
  /// The result of splitting a line.
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
  size_t columns_ = 0, used_ = 0;  // number of fields of a row; fields_ in use
  int64_t begin_ = 0;              // the first line of a row that spans several lines, 0: the row is one line
  int64_t like_rows_ = 0, first_like_row_ = 0;  // comments that may be rows, and the line of the first
};

}  // namespace stormcell
