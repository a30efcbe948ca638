// Finds the layout of an answer's ids: rows of tokens, with all layers or only those with experts, with or without
// columns of shared experts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/traces/json_values.h"
#include "core/traces/routed_ids.h"
#include "core/traces/trace.h"

namespace stormcell {

struct RoutedLayout {
  int64_t rows = 0, layers = 0, width = 0;
  bool all_layers = false;  ///< the rows also have layers without experts. In either case layers that predict further
                            ///< tokens may follow
};

/// Takes the ids of one sequence, `parts` joined in order. `tokens` counts prompt and answer (-1: not known); the last
/// one is not computed on, and rows at the beginning may be missing. Raw numbers have no shape, so their content
/// decides: layers without experts are zeros, and the choices of a token differ. Error(bad_input) through `row` if no
/// layout fits, if there are more rows than tokens, or if two layouts fit equally well.
RoutedLayout find_layout(const std::vector<const RoutedIds*>& parts, const TracedModel& model, int64_t tokens,
                         const JsonRow& row);

}  // namespace stormcell
