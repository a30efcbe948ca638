// Numbers and tables as the verbs print them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell::cli {

/// Rows of equal length, columns separated by two spaces; those in `right` (by number) are right-aligned.
std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right);

/// "1,234,567"
std::string count_text(int64_t value);
/// `digits` significant ones, without an exponent where it can be: "12.3", "0.00123", "3.1e-06".
std::string number_text(double value, int digits = 3);
/// "12.3 %" of 0.123.
std::string share_text(double value);
std::string milliseconds_text(double value);
/// "4.8 MiB"
std::string bytes_text(int64_t bytes);

}  // namespace stormcell::cli
