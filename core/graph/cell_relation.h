// The cells of a source that the cells of a value depend on.
#pragma once
#include <cstdint>
#include <string>

#include "core/graph/graph.h"

namespace stormcell {

/// A cell of a value depends on ... of a source.
struct CellRelation {
  enum class Reach : uint8_t {
    none,   ///< no cell
    cells,  ///< those that lie in the same cell of `meet`
    batch,  ///< all cells
  };
  Reach reach = Reach::none;
  /// a space above both, never a routed one; the value's own where cells depend on themselves only
  SpaceId meet = kNone;
  bool ordered = false;  ///< only on the same or an earlier place among the cells of one meet (causal)
  bool operator==(const CellRelation&) const = default;
};

/// Whether the relation says that cell `a` of a value over `of` depends on cell `b` of a source over `on`. Spaces
/// without routed ones above.
bool relates(const Graph& graph, const Bindings& bindings, const CellRelation& relation, SpaceId of, int64_t a,
             SpaceId on, int64_t b);

/// "none", "same sequences", "same sequences, in order", "batch".
std::string to_text(const Graph& graph, const CellRelation& relation);

}  // namespace stormcell
