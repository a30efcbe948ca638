// How the ids of an answer lie: rows of tokens, of all layers or of those with experts alone, with or without columns of shared experts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/trace/json_values.h"
#include "core/formats/trace/routed_ids.h"
#include "core/formats/trace/trace.h"

namespace stormcell {

struct RoutedLayout {
  int64_t rows = 0, layers = 0, width = 0;
  bool all_layers = false;  ///< those without experts, too. Behind either may be layers that predict further tokens
};

/// Takes the ids of one sequence, those of `parts` one behind another. `tokens`: of prompt and answer, -1: not known; the last one is not
/// computed on, and rows at the begin may be left out. Raw numbers say no shape, and their content decides: layers without experts are
/// zeros, and a token's choices differ. Error(bad_input) by `row`: no layout fits, more rows than tokens, or two fit alike.
RoutedLayout find_layout(const std::vector<const RoutedIds*>& parts, const TracedModel& model, int64_t tokens, const JsonRow& row);

}  // namespace stormcell
