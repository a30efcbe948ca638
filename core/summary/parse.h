// Summaries as sessions hold them, read back: what to_json() of the figures wrote.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// What decoding leaves.
struct Decoded {
  int64_t sequences = 0, tokens = 0, stopped_eos = 0, stopped_length = 0;
  double tokens_per_s = 0;
  Latency latency_ms;
  std::optional<double> accuracy;
  std::string verified;  ///< what was compared with the oracle
};
using NamedText = std::pair<std::string, std::string>;

/// Fills figures from the JSON of a verb; false where it is none.
bool parse_summary(const std::string& json, RunSummaryFigures& figures);
std::optional<Decoded> parse_decoded(const std::string& json);
/// A JSON object as flat lines "passes.dead-path", "1,2".
std::vector<NamedText> flat_json(const std::string& json);

}  // namespace stormcell
