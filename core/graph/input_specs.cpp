#include "core/graph/input_specs.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/label_inputs.h"

namespace stormcell {
namespace {

/// 1 of a root; 0 where a symbol counts them.
int64_t cells_per_item(const Graph& graph, const Value& input) {
  int64_t cells = 1;
  for (SpaceId s = input.type.space;; s = graph.space(s).parent) {
    if (s == kNone)
      bad_input("input " + input.name, "lives over no cells of the data", "give it a space below the batch's items");
    const CellSpace& space = graph.space(s);
    if (space.kind == SpaceKind::root) return cells;
    if (space.kind != SpaceKind::dense)
      bad_input("input " + input.name, "lives over cells that only a run knows", "use a dense space");
    if (space.per_parent.is_constant()) {
      cells *= space.per_parent.constant();
    } else if (space.per_parent.only_symbol() == -1 || graph.space(space.parent).kind != SpaceKind::root) {
      bad_input("input " + input.name, "has a number of cells that no data can tell",
                "count its space by one symbol, below the items");
    } else {
      cells = 0;
    }
  }
}

}  // namespace

std::vector<InputSpec> input_specs(const Graph& graph) {
  std::vector<InputSpec> specs;
  const std::vector<LabelInput> labels = label_inputs(graph);
  for (const Value& v : graph.values) {
    if (v.kind != ValueKind::input) continue;
    InputSpec spec{v.name, v.type.dtype, v.role, {}, {}, cells_per_item(graph, v), {}};
    const CellSpace& space = graph.space(v.type.space);
    spec.space = space.name;
    if (space.parent != kNone) spec.parent = graph.space(space.parent).name;
    for (const Dim& extent : v.type.content) {
      if (!extent.is_constant())
        bad_input("input " + v.name, "has a content of an extent that no data can tell",
                  "build the graph for one size");
      spec.content.push_back(extent.constant());
    }
    for (const LabelInput& label : labels)
      if (graph.value(label.input).name == v.name)
        spec.classes = spec.classes == 0 ? label.branches : std::min<int64_t>(spec.classes, label.branches);
    specs.push_back(std::move(spec));
  }
  return specs;
}

void bind_cells(const Graph& graph, int64_t items, const std::function<int64_t(std::string_view)>& cells_per_item,
                Bindings& bindings) {
  for (const CellSpace& space : graph.spaces) {
    const bool root = space.kind == SpaceKind::root;
    if (!root && space.kind != SpaceKind::dense) continue;
    const SymbolId symbol = (root ? space.count : space.per_parent).only_symbol();
    if (symbol == -1) continue;
    if (const int64_t cells = root ? items : cells_per_item(space.name); cells >= 0) bindings[symbol] = cells;
  }
}

}  // namespace stormcell
