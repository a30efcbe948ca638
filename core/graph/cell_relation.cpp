#include "core/graph/cell_relation.h"

#include <utility>

namespace stormcell {

bool relates(const Graph& graph, const Bindings& bindings, const CellRelation& relation, SpaceId of, int64_t a,
             SpaceId on, int64_t b) {
  if (relation.reach != CellRelation::Reach::cells) return relation.reach == CellRelation::Reach::batch;
  // The cell of the meet that holds a cell, and the place just below it.
  const auto climb = [&](SpaceId space, int64_t cell) {
    int64_t place = 0;
    for (; space != relation.meet; space = graph.space(space).parent) {
      place = cell;
      cell /= graph.space(space).per_parent.evaluate(bindings);
    }
    return std::pair(cell, place);
  };
  const auto [meet_a, place_a] = climb(of, a);
  const auto [meet_b, place_b] = climb(on, b);
  return meet_a == meet_b && (!relation.ordered || place_b <= place_a);
}

std::string to_text(const Graph& graph, const CellRelation& relation) {
  if (relation.reach == CellRelation::Reach::none) return "none";
  if (relation.reach == CellRelation::Reach::batch) return "batch";
  return "same " + graph.space(relation.meet).name + (relation.ordered ? ", in order" : "");
}

}  // namespace stormcell
