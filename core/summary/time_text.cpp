#include "core/summary/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stormcell {

std::string duration_words(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  const double whole = std::max(0.0, std::round(seconds));
  if (whole < kMinute) return fmt::format("{:.0f} s", whole);
  if (whole < kHour)
    return fmt::format("{:.0f} min {:02.0f} s", std::floor(whole / kMinute), std::fmod(whole, kMinute));
  return fmt::format("{:.1f} h", seconds / kHour);
}

std::string expected_words(double low, double high) {
  // One second is the least expected time.
  const std::string least = duration_words(std::max(1.0, low)), most = duration_words(std::max(1.0, high));
  return least == most ? "about " + most : least + " to " + most;
}

std::string expected_words(double low, double likely, double high) {
  const std::string range = expected_words(low, high), probably = expected_words(likely, likely);
  return range == probably ? range : probably + " (" + range + ")";
}

std::string time_taken_words(const RunSummaryFigures& f) {
  if (!f.elapsed_seconds) return {};
  const std::string took = duration_words(*f.elapsed_seconds);
  if (f.time_limit_seconds)
    return took + ", of a limit of " + duration_words(*f.time_limit_seconds) +
           (f.limit_overrun.empty() ? "" : ", overrun: " + f.limit_overrun);
  if (!f.expected_seconds) return took;
  return took + "; " + expected_words((*f.expected_seconds)[0], (*f.expected_seconds)[1]) + " were expected";
}

}  // namespace stormcell
