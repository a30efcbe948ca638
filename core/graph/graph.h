// A model as operators: flat, in single-assignment form, routers first-class, extents symbolic. Only guard and repeat
// hold bodies.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/id_vector.h"
#include "core/cell/input_spec.h"
#include "core/graph/annotations.h"
#include "core/graph/attributes.h"
#include "core/graph/dim.h"
#include "core/weights/recipe.h"

namespace stormcell {

struct Operator;
using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;
using SpaceId = Id<struct SpaceTag>;
/// The branch of a routed space that has all branches together, slot after slot.
inline constexpr int32_t kAllBranches = -1;

enum class SpaceKind : uint8_t {
  root,    ///< the sequences or images of a batch; no parent
  dense,   ///< a fixed number of cells for each parent cell, in the parent's order
  routed,  ///< the cells a decision sends to one branch (or to all: slots)
  ragged,  ///< some cells of a base space, in unequal numbers below their parents: parent + offsets, computed on the
           ///< device
};

/// A typed set of cells with its parent map.
struct CellSpace {
  std::string name;
  SpaceKind kind = SpaceKind::root;
  SpaceId parent = kNone;
  Dim count;                 ///< cells; of a routed or ragged space a bound
  Dim per_parent;            ///< dense: cells of one parent cell
  ValueId decision = kNone;  ///< routed: by which decision
  int32_t branch = kAllBranches;
  ValueId offsets = kNone;  ///< ragged: the value of kind `ragged` that says which cells there are
  SpaceId base = kNone;  ///< ragged: the space whose cells they are; its parent is the ragged space's, or that routed
};

/// The type of a value. A value over cells has shape [cells of the space, content...]; weights and scalars have no
/// space.
struct TensorType {
  DType dtype = DType::f32;
  SpaceId space = kNone;
  std::vector<Dim> content;
  bool operator==(const TensorType&) const = default;
};

enum class ValueKind : uint8_t { result, input, weight, state, decision, ragged };

struct Value {
  std::string name;
  ValueKind kind = ValueKind::result;
  /// of a decision: the space it routes from; of a ragged value: the base of its spaces; content empty
  TensorType type;
  NodeId producer = kNone;
  InputRole role = InputRole::none;  ///< input only
  int32_t branches = 0;              ///< decision only
  int32_t fan_out = 0;               ///< decision; ragged: how often a cell of the base may come
  std::string recipe = {};  ///< weight only: the text that names it in sources (recipe.h); empty: its own name does
  Annotations annotations = {};
};
/// Says how a weight is made of stored tensors; the tensor of its own name needs no saying.
void set_recipe(Value& weight, const Recipe& recipe);
/// How a weight is made of stored tensors.
Recipe recipe_of(const Value& weight);
/// The stored tensors that weights are made of, in the order of the weights; one may occur twice.
std::vector<std::string> tensors_read(const std::vector<Value>& values);
/// The text that names a weight in stores and sources.
inline const std::string& weight_text(const Value& weight) {
  return weight.recipe.empty() ? weight.name : weight.recipe;
}

struct Block {
  std::vector<NodeId> nodes;
};

struct Node {
  const Operator* op = nullptr;
  std::string name;
  std::vector<ValueId> inputs, outputs;
  Attributes attributes;
  std::vector<Block> bodies;                 ///< guard: {taken, fallback}; repeat: {body}
  std::vector<std::vector<ValueId>> yields;  ///< guard: what each body gives for the outputs, in their order
  Annotations annotations = {};
};

/// An output of the graph.
struct NamedValue {
  std::string name;
  ValueId value;
  /// the mask over its cells where only those count that are real: what the others hold is nobody's
  ValueId real = kNone;
};

/// The graph owns everything by index. Nodes of a block are in an order in which they may run.
class Graph {
 public:
  std::vector<std::string> symbols;
  IdVector<SpaceId, CellSpace> spaces;
  IdVector<ValueId, Value> values;
  IdVector<NodeId, Node> nodes;
  Block top;
  std::vector<NamedValue> outputs;

  SymbolId symbol(std::string_view name);             ///< finds or adds
  SymbolId find_symbol(std::string_view name) const;  ///< kNone when absent
  ValueId find_value(std::string_view name) const;    ///< kNone when absent
  const CellSpace& space(SpaceId id) const { return spaces[id]; }
  const Value& value(ValueId id) const { return values[id]; }
  Value& value(ValueId id) { return values[id]; }
  const Node& node(NodeId id) const { return nodes[id]; }
  Node& node(NodeId id) { return nodes[id]; }

  /// Extents of a value: cells of its space (a bound where routed), then its content.
  std::vector<Dim> shape(ValueId id) const;
  /// Bytes of one cell's content (all bytes where there is no space). Content is constant by the verifier's rule.
  int64_t row_bytes(ValueId id) const;
  /// True when `space` is `ancestor` or lies below it. A ragged space lies below its base and below its parent.
  bool is_within(SpaceId space, SpaceId ancestor) const;
  /// The space whose cells the cells of `space` are: a routed space's parent, a ragged space's base. kNone of the
  /// others.
  SpaceId origin(SpaceId space) const;
  /// The space that cells are identified in: the origins followed up to a space that has none.
  SpaceId dense_ancestor(SpaceId space) const;
  /// True when only a decision or a ragged value tells which cells the space has: it is routed or ragged, or lies below
  /// such a space.
  bool is_dynamic(SpaceId space) const;
  /// True of a ragged space that holds members of routed parents; then its parent is the routed space.
  bool holds_members(SpaceId space) const;

  /// All nodes in running order, bodies included after their node; visit(node, depth of nesting).
  template <class Visit>
  void for_each_node(Visit visit) const {
    for_each_node(top, 0, visit);
  }
  template <class Visit>
  void for_each_node(const Block& block, int depth, Visit& visit) const {
    for (const NodeId id : block.nodes) {
      visit(id, depth);
      for (const Block& body : node(id).bodies) for_each_node(body, depth + 1, visit);
    }
  }
  /// Nodes that use each value, in running order.
  IdVector<ValueId, std::vector<NodeId>> users() const;
};

}  // namespace stormcell
