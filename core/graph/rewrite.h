// The tools of passes: they copy parts of a graph, move them together, replace them, and drop what nobody uses any
// more.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/uses.h"
#include "core/graph/value_names.h"

namespace stormcell {

using ValueMap = std::map<ValueId, ValueId>;

/// The graph without the nodes that are in no block, and without the values and spaces that nothing refers to any more.
/// The graph's inputs stay.
Graph compact(const Graph& graph);

/// A graph under rewriting. New nodes are in no block until they are placed.
class Rewriter {
 public:
  explicit Rewriter(Graph graph);
  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }

  /// A node whose outputs are inferred and named after it. Throws as its operator's shape rule does.
  NodeId make_node(std::string_view op, std::vector<ValueId> inputs, Attributes attributes, std::string_view name);
  /// The new node `to` stands for `from`: what was said of that and of its output of[i] is said of this and of output
  /// i; each of its own where `of` is empty.
  void take_annotations(NodeId to, NodeId from, std::span<const size_t> of = {});
  /// A guard of `pass`, whose outputs lie as what its bodies yield does: `taken` while the predicate is not 0, else
  /// `fallback`. Without a predicate (kNone) the last value that `taken` yields is it.
  struct Body {
    std::vector<NodeId> nodes;
    std::vector<ValueId> yields;
  };
  NodeId make_guard(ValueId predicate, Body taken, Body fallback, std::string_view name, std::string_view pass);
  /// The cells that `decision` sends to `branch`, one space each.
  SpaceId routed_space(ValueId decision, int32_t branch);

  /// A copy of a node with its bodies and annotations. It uses what `values` says instead of what the node uses, and
  /// its outputs are added there. Copied decisions get spaces of their own, and so do the copied values that live in
  /// them.
  NodeId clone(NodeId node, ValueMap& values);
  /// The space in which a copy of a value of `space` lives.
  SpaceId space_of_copies(SpaceId space, const ValueMap& values);

  /// Every use of a key of `values` becomes a use of what it maps to, but in the nodes `except` and their bodies.
  void substitute(const ValueMap& values, const std::set<NodeId>& except = {});
  /// `count` nodes of a block from `first` on are replaced by `with`.
  void replace_run(BlockPlace place, size_t first, size_t count, const std::vector<NodeId>& with);
  /// Puts a run of nodes, those of the fallback, behind a guard (make_guard): `before`, which find out what it asks,
  /// and the guard stand there, and what others read of the fallback's yields they read of it. Returns the guard.
  NodeId guard_run(BlockPlace place, size_t first, std::vector<NodeId> before, ValueId predicate, Body taken,
                   Body fallback, std::string_view name, std::string_view pass);
  /// Moves nodes of one block next to each other: what stands between them goes before, or behind where it reads what
  /// they make. Returns the place of the first; nothing where that would change what a node reads.
  std::optional<size_t> bring_together(BlockPlace place, std::span<const NodeId> nodes);

  /// True when the states are read and written in the same order by the nodes `to` as by `from`, which are the same
  /// nodes.
  bool keeps_states(const std::vector<NodeId>& from, const std::vector<NodeId>& to) const;

  /// Compacts, verifies and hands the graph over.
  Graph finish();

 private:
  ValueId add_value(std::string_view name, ValueKind kind, TensorType type);
  void add_outputs(Node& node, NodeId id);

  Graph graph_;
  ValueNames names_;
};

}  // namespace stormcell
