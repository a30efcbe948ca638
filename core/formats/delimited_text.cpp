#include "core/formats/delimited_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"
#include "core/formats/table_number.h"

namespace stormcell {
namespace {

constexpr std::array kSeparators = {',', ';', '\t'};
constexpr std::string_view kBlanks = " \t";
constexpr size_t kMostQuoted = size_t{1} << 16;  // most bytes of a field that spans several lines

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

/// Appends a quoted field to `text`. `at` goes from the character after the opening quote to the closing quote, or to
/// the end of the line.
void take_quoted(std::string_view line, size_t& at, std::string& text) {
  for (; at < line.size() && !(line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')); ++at) {
    at += line[at] == '"';
    text += line[at];
  }
}

/// A spreadsheet may write "sep=;" as the first line. The line of names shows the separator as well.
bool is_separator_line(std::string_view line) {
  constexpr std::string_view kName = "sep=";
  if (!line.starts_with(kName)) return false;
  line.remove_prefix(kName.size());
  // A tab at the end of the line was trimmed.
  return line.empty() ||
         (line.size() == 1 && std::find(kSeparators.begin(), kSeparators.end(), line[0]) != kSeparators.end());
}

bool is_error_of_spreadsheet(std::string_view field) {
  constexpr std::array<std::string_view, 7> kErrors = {"#N/A",   "#VALUE!", "#REF!", "#DIV/0!",
                                                       "#NAME?", "#NULL!",  "#NUM!"};
  return std::find(kErrors.begin(), kErrors.end(), field) != kErrors.end();
}

}  // namespace

std::string_view behind_separator_line(std::string_view text) {
  const size_t end = std::min(text.find_first_of("\r\n"), text.size());
  if (!is_separator_line(trimmed(text.substr(0, end)))) return text;
  text.remove_prefix(end);
  return text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
}

void DelimitedText::wrong(const std::string& what, const std::string& advice) const {
  bad_input(place(), what, advice.empty() ? advice_ : advice);
}
void DelimitedText::wrong_field(size_t column, const std::string& what, const std::string& advice) const {
  bad_input(place() + ", column " + std::to_string(column + 1), what, advice.empty() ? advice_ : advice);
}

std::string DelimitedText::correct_line() const {
  return "correct line " + std::to_string(begin_ ? begin_ : lines_.number());
}

std::string DelimitedText::name_of(size_t column) const {
  return column < names_.size() && !names_[column].empty() ? shortened(names_[column]) : "the field";
}

// Lines ---------------------------------------------------------------------------------------------------------------

DelimitedText::Line DelimitedText::find_filled() {
  begin_ = 0;
  do {
    const std::string_view line = trimmed(lines_.line());
    if (comments_ == TableComments::hash && (line.starts_with('#') || line.starts_with("\"#"))) {
      check_comment(line);
      return Line::comment;
    }
    if (lines_.number() == 1 && is_separator_line(line)) continue;
    if (!is_empty_row(line)) return Line::row;
    lines_.count_empty();
  } while (lines_.next());
  return Line::end;
}

bool DelimitedText::next_row() {
  Line line = next();
  for (; line == Line::comment; line = next()) count_like_row();
  return line == Line::row;
}

/// A row may have an id such as "#1". A comment that a spreadsheet wrote has only empty fields after its text.
void DelimitedText::count_like_row() {
  if (names_.size() < 2 || split(lines_.line(), separator_) != Split::whole) return;
  while (used_ > columns_ && fields_[used_ - 1].empty()) --used_;
  const auto begin = fields_.begin() + 1, end = fields_.begin() + used_;
  if (used_ != columns_ || std::all_of(begin, end, [](const std::string& field) { return field.empty(); })) return;
  if (like_rows_++ == 0) first_like_row_ = lines_.number();
}

std::string DelimitedText::warning_of_comments() const {
  if (like_rows_ == 0) return {};
  return lines_.where() + ": " + counted(like_rows_, "comment has", "comments have") +
         " as many fields as the line of names; the first is line " + std::to_string(first_like_row_) +
         ": begin it with another character than '#' if it is a row";
}

/// A spreadsheet writes an empty row as separators only.
bool DelimitedText::is_empty_row(std::string_view line) const {
  return line.find_first_not_of(" \t\r\v\f,;") == std::string_view::npos;
}

/// A first column such as "#N/A" is a failed formula, not a comment.
void DelimitedText::check_comment(std::string_view line) const {
  const std::string_view first =
      line.substr(line.starts_with('"'), line.find_first_of(",;\t\"", 1) - line.starts_with('"'));
  if (is_error_of_spreadsheet(trimmed(first)))
    wrong_field(0, "is " + in_quotes(first) + ", an error of the spreadsheet", "mend the formula");
}

std::string DelimitedText::comment() const {
  std::string_view line = trimmed(lines_.line());
  std::string text;
  if (line.starts_with('"')) {
    size_t at = 1;
    take_quoted(line, at, text);
    line.remove_prefix(std::min(line.size(), at + 1));
  }
  text += line;
  text.resize(text.find_last_not_of(" \t,;") + 1);
  return text;
}

// Columns -------------------------------------------------------------------------------------------------------------

void DelimitedText::read_names(std::span<const std::string_view> known, std::span<const std::string_view> needed) {
  int64_t most = -1;
  separator_ = kSeparators[0];
  for (const char separator : kSeparators) {
    if (split(lines_.line(), separator) == Split::behind_quote) continue;
    int64_t found = 0;
    for (size_t i = 0; i < used_; ++i) found += std::find(known.begin(), known.end(), fields_[i]) != known.end();
    if (found > most) most = found, separator_ = separator;
  }
  columns_ = 0;
  split_row();
  while (used_ > 0 && fields_[used_ - 1].empty()) --used_;
  names_.assign(fields_.begin(), fields_.begin() + used_);
  columns_ = names_.size();
  if (columns_ == 0) wrong("has no names of columns, which belong in the first line");
  for (size_t i = 0; i < columns_; ++i)
    if (!names_[i].empty() && column(names_[i]) != static_cast<int64_t>(i))
      wrong_field(i, "the column " + in_quotes(names_[i]) + " occurs twice");
  for (const std::string_view name : needed)
    if (column(name) < 0) {
      std::string there;
      for (size_t i = 0; i < std::min<size_t>(columns_, 6); ++i) add_to_list(there, names_[i].substr(0, 24));
      wrong("has no column " + std::string(name) + "; the first columns are " + in_quotes(there));
    }
}

int64_t DelimitedText::column(std::string_view name) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  return at == names_.end() ? -1 : at - names_.begin();
}

bool DelimitedText::separate(size_t columns, const Fits& fits) {
  columns_ = columns, separator_ = kSeparators[0];
  bool found = false;
  for (const char separator : kSeparators) {
    if (split(lines_.line(), separator) == Split::behind_quote) continue;
    while (used_ > columns && fields_[used_ - 1].empty()) --used_;
    if (used_ != columns) continue;
    const bool fit = fits && fits(std::span<const std::string>(fields_).first(used_));
    if (fit || !found) separator_ = separator;
    if (fit) return true;
    found = true;
  }
  return false;
}

// Fields --------------------------------------------------------------------------------------------------------------

/// Splits the line into the first used_ of fields_.
DelimitedText::Split DelimitedText::split(std::string_view line, char separator) {
  used_ = 0;
  for (size_t at = 0;; ++at) {
    if (used_ == fields_.size()) fields_.emplace_back();
    std::string& field = fields_[used_++];
    field.clear();
    size_t begin = at;
    while (begin < line.size() && (line[begin] == ' ' || (line[begin] == '\t' && separator != '\t'))) ++begin;
    if (begin < line.size() && line[begin] == '"') {
      at = begin + 1;
      take_quoted(line, at, field);
      if (at >= line.size()) return Split::open_quote;
      const size_t end = std::min(line.find(separator, ++at), line.size());
      if (!trimmed(line.substr(at, end - at)).empty()) return Split::behind_quote;
      at = end;
    } else {
      at = std::min(line.find(separator, begin), line.size());
      field = trimmed(line.substr(begin, at - begin));
    }
    if (at == line.size()) return Split::whole;
  }
}

/// A quoted field may contain line ends.
void DelimitedText::split_row() {
  begin_ = lines_.number();
  const size_t most = lines_.line().size() + kMostQuoted;
  Split done = split(lines_.line(), separator_);
  for (; done == Split::open_quote; done = split(lines_.line(), separator_))
    // The row is split anew only after a line with a quote; otherwise many short lines would take quadratic time.
    for (bool came = false; !came;) {
      const size_t had = lines_.line().size();
      if (had > most || !lines_.extend()) wrong("a quote is not closed", "close it");
      came = lines_.line().find('"', had) != std::string_view::npos;
    }
  if (done == Split::behind_quote)
    wrong_field(used_ - 1, "has text after its closing quote", "write a quote within quotes twice");
}

const std::vector<std::string>& DelimitedText::fields() {
  split_row();
  while (used_ > columns_ && fields_[used_ - 1].empty()) --used_;
  if (used_ != columns_) refuse_fields();
  fields_.resize(columns_);
  return fields_;
}

void DelimitedText::refuse_fields() const {
  const std::string named =
      names_.empty() ? std::to_string(columns_) + " are expected" : "the line of names has " + std::to_string(columns_);
  std::string advice;
  if (used_ < columns_ && !lines_.is_ended())
    advice = "the file may be cut; get it again";
  else if (used_ > columns_ && separator_ == ',')
    advice = "write a point for decimals, and put a field that holds a comma in double quotes";
  wrong("has " + counted(static_cast<int64_t>(used_), "field") + ", " + named, advice);
}

// Numbers -------------------------------------------------------------------------------------------------------------

bool DelimitedText::plain_numbers(std::span<const NumberPlace> places) {
  const std::string_view line = lines_.line();
  const char *p = line.data(), *const end = p + line.size(), separator = separator_;
  for (size_t i = 0; i < places.size(); ++i) {
    const NumberPlace& place = places[i];
    if (place.whole) {
      const bool minus = p != end && *p == '-';
      p += minus;
      const char* const digits = p;
      int64_t value = 0;
      for (; p != end && static_cast<unsigned char>(*p - '0') < 10 && p - digits < 18; ++p)
        value = value * 10 + (*p - '0');
      if (p == digits) return false;
      *place.whole = minus ? -value : value;
    } else if (place.real) {
      const auto [after, error] = std::from_chars(p, end, *place.real);
      if (error != std::errc() || !std::isfinite(*place.real)) return false;
      p = after;
    } else {
      for (; p != end && *p != separator; ++p)
        if (*p == '"') return false;
    }
    const bool last = i + 1 == places.size();
    if (last != (p == end) || (!last && *p != separator)) return false;
    ++p;
  }
  return true;
}

void DelimitedText::read_numbers(std::span<const NumberPlace> places) {
  fields();
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].whole) *places[i].whole = whole(i);
    if (places[i].real) *places[i].real = static_cast<float>(real(i));
  }
}

int64_t DelimitedText::whole(size_t column) const {
  const auto value = whole_in(fields_[column]);
  if (!value) refuse_number(column, true);
  return *value;
}

double DelimitedText::real(size_t column) const {
  const auto value = real_in(fields_[column]);
  if (!value) refuse_number(column, false);
  return *value;
}

void DelimitedText::refuse_number(size_t column, bool whole) const {
  const NumberFault fault = fault_of_number(fields_[column], whole);
  wrong_field(
      column,
      name_of(column) + " is " + (fields_[column].empty() ? "" : in_quotes(fields_[column]) + ", ") + fault.what,
      fault.advice.empty() ? correct_line() : fault.advice);
}

}  // namespace stormcell
