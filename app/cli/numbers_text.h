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
/// `digits` significant ones, without an exponent where it can be: "12.3", "0.00123", "3.1e-06".
std::string number_text(double value, int digits = 3);
/// "-" where there is none.
std::string number_text(const std::optional<double>& value);
/// "12.3 %" of 0.123.
std::string share_text(double value);
/// "+12 %" of a difference of 0.12, "-" where there is none.
std::string difference_text(const std::optional<double>& share);
/// "1.23x"; with its interval "1.23x [1.2, 1.26]", "-" where there is none.
std::string ratio_text(double value);
std::string ratio_text(const std::optional<double>& value, const std::optional<std::array<double, 2>>& ci);
/// A number a second: whole from 100 on.
std::string rate_text(double value);
std::string milliseconds_text(double value);
/// A figure that is 0 where nothing differs, such as largest / mean - 1. The rounding of sums is shown as 0.
std::string excess_text(double value);
std::string excess_text(const std::optional<double>& value);

/// "4.8 MiB"
std::string bytes_text(int64_t bytes);

}  // namespace stormcell::cli
