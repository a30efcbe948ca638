// Numbers and tables as the verbs print them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell::cli {

using Rows = std::vector<std::vector<std::string>>;  ///< of a table
/// Rows of equal length, columns separated by two spaces; those in `right` (by number) are right-aligned.
std::string table_text(const Rows& rows, const std::vector<size_t>& right);

/// "1,234,567"
std::string count_text(int64_t value);
/// Uses `digits` significant digits, without an exponent if possible: "12.3", "0.00123", "3.1e-06".
std::string number_text(double value, int digits = 3);
/// "-" without a value.
std::string number_text(const std::optional<double>& value);
/// "12.3 %" for 0.123.
std::string share_text(double value);
/// "+12 %" for a difference of 0.12, "-" without one.
std::string difference_text(const std::optional<double>& share);
/// "1.23x"; with its interval "1.23x [1.2, 1.26]", "-" without a value.
std::string ratio_text(double value);
std::string ratio_text(const std::optional<double>& value, const std::optional<std::array<double, 2>>& ci);
/// Formats a rate; whole from 100 on.
std::string rate_text(double value);
std::string milliseconds_text(double value);
/// Formats a value that is 0 for equal parts, such as largest / mean - 1: rounding of sums is shown as 0.
std::string excess_text(double value);
std::string excess_text(const std::optional<double>& value);

/// "4.8 MiB"
std::string bytes_text(int64_t bytes);

}  // namespace stormcell::cli
