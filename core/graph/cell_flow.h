// Static cell flow: on which cells of each input (and of each state's first content) the cells of each value may depend, found by
// running the graph over sets of cells. Twice: `full`, of a run that decides for itself, and `data`, of a run whose decisions are replayed.
// Limits: docs/decisions/004-graph-analysis.md.
#pragma once
#include <string>
#include <vector>

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
  SpaceId meet = kNone;  ///< a space above both, never a routed one; the value's own where cells depend on themselves only
  bool ordered = false;  ///< only on the same or an earlier place among the cells of one meet (causal)
  bool operator==(const CellRelation&) const = default;
};
struct CellDependence {
  CellRelation data;  ///< decisions replayed: only what is computed counts
  CellRelation full;  ///< who was chosen counts too
  bool operator==(const CellDependence&) const = default;
};

/// Something that mixes cells: "attention within sequences", "capacity within sequences, in order", "priority over the batch".
struct Mixing {
  std::string what;        ///< the operator, or capacity or priority of a router
  SpaceId within = kNone;  ///< kNone: the batch
  bool ordered = false;
  bool operator==(const Mixing&) const = default;
};

struct RouterFlow {
  NodeId router = kNone;
  ValueId decision = kNone;
  std::string name;
  std::vector<ValueId> values;       ///< that depend on the decision, in running order
  std::vector<std::string> outputs;  ///< of the graph, that depend on it
  std::vector<std::string> routers;  ///< whose decisions depend on it
  std::vector<Mixing> mixes;         ///< its own capacity or priority, then what mixes the cells it routed before the next router decides
};

/// Whether the stop of a repeat counts, which says how many turns it takes.
enum class RepeatStop : uint8_t {
  counts,   ///< reaches everything that its turns write
  ignored,  ///< of what is read of turns that every cell it is read of asks for itself: the tokens of a sequence that has not ended
};

class CellFlow {
 public:
  /// Inputs and states, in the order of their numbers.
  const std::vector<ValueId>& sources() const { return sources_; }
  /// Of a state: its content at the end. `source` is an input or a state.
  const CellDependence& relation(ValueId value, ValueId source) const;
  /// In running order.
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

/// Whether the relation says that cell `a` of a value over `of` depends on cell `b` of a source over `on`. Spaces without routed ones
/// above.
bool relates(const Graph& graph, const Bindings& bindings, const CellRelation& relation, SpaceId of, int64_t a, SpaceId on, int64_t b);

/// "none", "same sequences", "same sequences, in order", "batch".
std::string to_text(const Graph& graph, const CellRelation& relation);
/// "attention within sequences", "capacity within sequences, in order", "priority over the batch".
std::string to_text(const Graph& graph, const Mixing& mixing);

}  // namespace stormcell
