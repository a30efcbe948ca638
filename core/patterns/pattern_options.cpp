// The texts of options of patterns.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"
#include "core/patterns/patterns.h"
#include "core/patterns/saturation.h"

namespace stormcell {
namespace {

/// visit(begin, end) for each part between commas.
template <class Visit>
void for_each_part(const std::string& text, Visit visit) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    visit(text.data() + at, text.data() + end);
    at = end + 1;
  }
}

std::string with_recordings(std::string command, const std::vector<std::string>& recordings) {
  for (const std::string& recording : recordings) command += " " + shell_word(recording);
  return command;
}

}  // namespace

std::string command_of(const PatternOptions& options) {
  std::string command = with_recordings("stormcell patterns", options.recordings);
  const PatternOptions plain;
  if (!options.labels.empty()) command += " --labels " + shell_word(options.labels);
  std::string pairs, margins;
  for (const auto& [from, to] : options.layer_pairs)
    add_to_list(pairs, std::to_string(from) + "-" + std::to_string(to), ",");
  if (!pairs.empty()) command += " --layers " + pairs;
  if (options.gap != plain.gap) command += " --gap " + std::to_string(options.gap);
  if (options.first_choices != plain.first_choices) command += " --first " + std::to_string(options.first_choices);
  if (options.fewest_cells != plain.fewest_cells) command += " --fewest-cells " + std::to_string(options.fewest_cells);
  for (const double margin : options.margins) add_to_list(margins, fmt::format("{}", margin), ",");
  if (options.margins != plain.margins) command += " --below " + margins;
  return command;
}

std::string command_of(const SaturationOptions& options) {
  return with_recordings("stormcell saturation", options.recordings);
}

std::vector<std::array<int64_t, 2>> parse_layer_pairs(const std::string& text) {
  std::vector<std::array<int64_t, 2>> pairs;
  for_each_part(text, [&](const char* begin, const char* end) {
    std::array<int64_t, 2> pair{};
    const auto first = std::from_chars(begin, end, pair[0]);
    const bool dashed = first.ec == std::errc() && first.ptr < end && *first.ptr == '-';
    const auto second = dashed ? std::from_chars(first.ptr + 1, end, pair[1]) : first;
    if (!dashed || second.ec != std::errc() || second.ptr != end || pair[0] < 0 || pair[1] < 0)
      bad_input("--layers", in_quotes({begin, end}) + " is no pair of layers",
                "two layers with - between, and commas between pairs: 0-7,7-15");
    if (pair[0] >= pair[1])
      bad_input("--layers", in_quotes({begin, end}) + " does not lead to a later layer",
                "name the earlier layer first");
    pairs.push_back(pair);
  });
  return pairs;
}

std::vector<double> parse_margins(const std::string& text) {
  constexpr size_t kMostMargins = 8;
  constexpr const char* kMargins = "up to eight numbers above 0, ascending: 0.01,0.03";
  std::vector<double> margins;
  for_each_part(text, [&](const char* begin, const char* end) {
    double margin = 0;
    const auto [at, error] = std::from_chars(begin, end, margin);
    if (error != std::errc() || at != end || !std::isfinite(margin) || margin <= 0)
      bad_input("--below", in_quotes({begin, end}) + " is no number above 0", kMargins);
    if (!margins.empty() && margin <= margins.back())
      bad_input("--below", in_quotes({begin, end}) + " is not above the number before it", kMargins);
    margins.push_back(margin);
  });
  if (margins.size() > kMostMargins) bad_input("--below", "has more than eight numbers", kMargins);
  return margins;
}

}  // namespace stormcell
