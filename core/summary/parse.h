// Summaries as sessions hold them, read back: what to_json() of the figures wrote.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

using NamedText = std::pair<std::string, std::string>;

/// A verb's summary. Members that another version did not write are empty.
struct Summary {
  RunSummaryFigures figures;                 ///< for generate: what all verbs have
  std::optional<GenerateFigures> generated;  ///< for generate alone
};

/// Nothing where the text is no JSON object.
std::shared_ptr<const Summary> parse_summary(const std::string& json);
/// A JSON object as flat lines "passes.dead-path", "1,2".
std::vector<NamedText> flat_json(const std::string& json);

}  // namespace stormcell
