// Static cell flow: on which cells of each input (and of each state's first content) the cells of each value may
// depend, found by running the graph over sets of cells. Twice: `full`, of a run that decides for itself, and `data`,
// of a run whose decisions are replayed. Limits: docs/decisions/004-graph-analysis.md.
#pragma once
#include <string>
#include <vector>

#include "core/graph/cell_relation.h"
#include "core/graph/graph.h"
#include "core/graph/router_flow.h"

namespace stormcell {

/// The dependence of a value's cells on a source.
struct CellDependence {
  CellRelation data;  ///< decisions replayed: only what is computed counts
  CellRelation full;  ///< with the dependence on who was chosen
  bool operator==(const CellDependence&) const = default;
};

/// Whether the stop of a repeat counts, which says how many turns it takes.
enum class RepeatStop : uint8_t {
  counts,   ///< reaches everything that its turns write
  ignored,  ///< for values of turns that each of their cells asks for itself: the tokens of a sequence that has not
            ///< ended
};

class CellFlow {
 public:
  /// Inputs and states, in the order of their numbers.
  const std::vector<ValueId>& sources() const { return sources_; }
  /// The dependence of a value, or of a state's content at the end, on `source`, an input or a state.
  const CellDependence& relation(ValueId value, ValueId source) const;
  /// The routers in running order.
  const std::vector<RouterFlow>& routers() const { return routers_; }
  /// nullptr when there is no such router.
  const RouterFlow* router(std::string_view name) const;

 private:
  friend CellFlow analyze_cell_flow(const Graph& graph, RepeatStop stop);
  std::vector<ValueId> sources_;
  std::vector<std::vector<CellDependence>> dependences_;  ///< [value][source]
  std::vector<RouterFlow> routers_;
};

/// The graph must be verified.
CellFlow analyze_cell_flow(const Graph& graph, RepeatStop stop = RepeatStop::counts);

}  // namespace stormcell
