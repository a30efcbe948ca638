#include "core/bench/converted_graph.h"

#include "core/base/number_format.h"
#include "core/graph/paged_states.h"

namespace stormcell {

std::shared_ptr<const Graph> in_format(const Graph& graph, DType to) {
  auto changed = std::make_shared<Graph>(graph);
  for (Value& v : changed->values) {
    if (v.kind != ValueKind::weight || !is_engine_float(v.type.dtype) || v.type.dtype == to ||
        v.type.content.size() < 2)
      continue;
    v.type.dtype = to;
    set_recipe(v, convert_recipe(recipe_of(v), to));
  }
  for (const ValueId state : paged_states(*changed).states) changed->value(state).type.dtype = state_format(to);
  return changed;
}

}  // namespace stormcell
