// What the verbs print for people: short, aligned, every figure with its unit and how it was come by.
#pragma once
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell::cli {

/// Of run, profile and optimize.
std::string to_text(const RunSummaryFigures& figures, bool verbose);
std::string to_text(const GenerateFigures& figures, bool verbose);
std::string to_text(const ModelStructure& structure, bool verbose);

/// Rows of equal length, columns separated by two spaces; those in `right` (by number) are right-aligned.
std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right);

/// "1,234,567"
std::string count_text(int64_t value);
/// `digits` significant ones, without an exponent where it can be: "12.3", "0.00123", "3.1e-06".
std::string number_text(double value, int digits = 3);
std::string milliseconds_text(double value);
/// "4.8 MiB"
std::string bytes_text(int64_t bytes);

}  // namespace stormcell::cli
