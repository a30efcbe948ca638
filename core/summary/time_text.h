// Times of a command in words.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell {

/// "8 s", "2 min 05 s", "1.5 h".
std::string duration_words(double seconds);
/// The expected time of a command: "about 8 s", "8 s to 1 min 20 s".
std::string expected_words(double low, double high);
/// The same with the probable time, to plan by: "about 2 min 00 s (46 s to 6 min 34 s)".
std::string expected_words(double low, double likely, double high);

/// The time with its limit or the expected time: "12 s, of a limit of 30 s", "12 s; 10 s to 40 s were expected", and
/// the work that overran the limit. Empty: not known.
std::string time_taken_words(const RunSummaryFigures& figures);

}  // namespace stormcell
