// How wide a model's experts are: of graphs in which each branch is its own nodes, as models make them.
#pragma once
#include <cstdint>
#include <optional>

#include "core/graph/graph.h"

namespace stormcell {

/// Two matrices take a cell's width to the expert's and back; three where it is gated.
struct ExpertWidths {
  int64_t hidden = 0, ffn = 0;
  int64_t matrices = 0;
  bool operator==(const ExpertWidths&) const = default;
};
/// Nothing where branches are something else, or are not all of one size.
std::optional<ExpertWidths> expert_widths(const Graph& graph);

}  // namespace stormcell
