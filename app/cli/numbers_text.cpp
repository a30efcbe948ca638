#include "app/cli/numbers_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/counted.h"
#include "core/base/numbers.h"

namespace stormcell::cli {
namespace {

// Width on a terminal: bytes of UTF-8 that begin a character. Names in wide scripts may still be misaligned.
size_t columns(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string table_text(const Rows& rows, const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - columns(row[i]), ' ');
      const bool to_right = std::find(right.begin(), right.end(), i) != right.end();
      line += (i ? "  " : "") + (to_right ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string count_text(int64_t value) { return with_commas(value); }

std::string number_text(double value, int digits) {
  if (value == 0 || !std::isfinite(value))
    return std::isnan(value) ? "NaN" : value == 0 ? "0" : value > 0 ? "inf" : "-inf";
  const int whole = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  char text[64];
  if (whole > 15 || whole < -3) {
    std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  } else {
    std::snprintf(text, sizeof text, "%.*f", std::max(0, digits - whole), value);
  }
  return text;
}

std::string number_text(const std::optional<double>& value) { return value ? number_text(*value) : "-"; }

std::string share_text(double value) { return number_text(100 * value, 3) + " %"; }
std::string difference_text(const std::optional<double>& share) {
  return share ? (*share > 0 ? "+" : "") + number_text(100 * *share, 2) + " %" : "-";
}

std::string ratio_text(double value) { return number_text(value, 3) + "x"; }
std::string ratio_text(const std::optional<double>& value, const std::optional<std::array<double, 2>>& ci) {
  if (!value) return "-";
  return ratio_text(*value) + (ci ? " [" + number_text((*ci)[0], 3) + ", " + number_text((*ci)[1], 3) + "]" : "");
}
std::string rate_text(double value) { return value < 100 ? number_text(value) : count_text(std::llround(value)); }

std::string milliseconds_text(double value) { return number_text(value) + " ms"; }

std::string excess_text(double value) {
  constexpr double kRounding = 1e-9;
  return number_text(std::fabs(value) < kRounding ? 0 : value);
}
std::string excess_text(const std::optional<double>& value) { return value ? excess_text(*value) : "-"; }

std::string bytes_text(int64_t bytes) { return stormcell::to_text(Bytes(bytes)); }

}  // namespace stormcell::cli
