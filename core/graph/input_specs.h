// The inputs that a graph asks for, and the number of cells that they make.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// The inputs in the order of the graph's values. Throws Error(bad_input) naming an input over no cells, over cells
/// that only a run knows (routed, ragged), or with a content of symbolic extents.
std::vector<InputSpec> input_specs(const Graph& graph);

/// Values of the symbols that count cells of root and dense spaces, for `items` items. `cells_per_item` gives a space's
/// by its name; negative where it is not known: its symbol is left as it is.
void bind_cells(const Graph& graph, int64_t items, const std::function<int64_t(std::string_view)>& cells_per_item,
                Bindings& bindings);

}  // namespace stormcell
