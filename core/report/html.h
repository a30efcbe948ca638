// Text of a page: escaping, numbers, tables. What these functions return is well-formed XML.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell::report {

/// Safe as content and as attribute value: markup escaped, invalid UTF-8 and control characters replaced.
std::string escape(std::string_view text);
/// Escaped and not longer than `most` characters.
std::string shortened(std::string_view text, size_t most);

std::string count(int64_t value);
std::string number(double value, int digits = 3);
/// A dash without a value.
std::string number(const std::optional<double>& value);
std::string percent(double share);
/// "+1.2 %", "−0.4 %", "0 %".
std::string change(double share);
std::string bytes(int64_t value);
std::string milliseconds(double value);
std::string times(double factor);
std::string times(const std::optional<double>& factor);
/// Two significant digits: differences and tolerances.
std::string rough(double value);
/// "1.10 to 1.32", a dash without an interval.
std::string interval(const std::optional<std::array<double, 2>>& ci);

/// A table whose cells are HTML. Columns from `numeric` on are right-aligned.
class Table {
 public:
  Table(std::string caption, std::vector<std::string> head, size_t numeric = 1);
  void row(const std::vector<std::string>& cells);
  bool empty() const { return rows_ == 0; }
  std::string html() const;
  /// Folded away under its caption.
  std::string details() const;

 private:
  std::string caption_, body_;
  size_t numeric_, columns_, rows_ = 0;
};

/// A part of the page; `body` is HTML. An empty one leaves no trace.
std::string section(std::string_view id, std::string_view title, const std::string& body);
/// The same section, folded away under its title.
std::string folded(std::string section);
/// A page in which no line breaks between a figure and its unit.
std::string keep_units(const std::string& html);
std::string paragraph(const std::string& html, std::string_view css = {});
/// A chart with its caption; `source` gives the origin of the figures: measured, predicted.
std::string figure(const std::string& svg, const std::string& caption, const std::string& source);

std::string page_style();

}  // namespace stormcell::report
