// Builds graphs node by node; every node's types are inferred and checked as it is added.
#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell/protocol.h"
#include "core/graph/graph.h"
#include "core/graph/value_names.h"

namespace stormcell {

class GraphBuilder {
 public:
  /// Continues an existing graph (passes do), or begins an empty one.
  explicit GraphBuilder(Graph graph = {});

  Dim symbol(std::string_view name) { return Dim::symbol(graph_.symbol(name)); }
  SpaceId root_space(std::string_view name, Dim count);
  SpaceId dense_space(std::string_view name, SpaceId parent, Dim per_parent);
  /// The cells that `decision` sends to `branch` (or all slots: kAllBranches); one space each, made once.
  SpaceId routed_space(ValueId decision, int32_t branch);
  /// The cells of a ragged value below `parent`; one space each, made once.
  SpaceId ragged_space(ValueId ragged, SpaceId parent);

  ValueId input(std::string_view name, DType dtype, SpaceId space, std::vector<Dim> content = {},
                InputRole role = InputRole::none);
  /// The stored tensor `name`, whatever the graph has to call it where another value has that name.
  ValueId weight(std::string_view name, DType dtype, std::vector<int64_t> shape);
  /// A weight that is made of stored tensors. `name` is the graph's own: asked for again, it is the same weight.
  ValueId weight(std::string_view name, const Recipe& recipe, DType dtype, std::vector<int64_t> shape);
  ValueId state(std::string_view name, DType dtype, SpaceId space, std::vector<Dim> content = {});

  /// Adds a node to the current block; its name becomes the outputs' names, made unique. Throws as the operator's shape
  /// rule does.
  NodeId add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}, std::string_view name = {});
  /// add() for a node with one output.
  ValueId value(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {},
                std::string_view name = {});

  ValueId route(ValueId scores, const Protocol& protocol, std::string_view name, int64_t branches = 0);
  /// One value for each branch.
  std::vector<ValueId> scatter(ValueId x, ValueId decision, const std::vector<int32_t>& branches);
  /// The rows of x of the cells that `ragged` tells below `parent`.
  ValueId pack(ValueId x, ValueId ragged, SpaceId parent);
  /// The same for members of a decision: one value for each branch.
  std::vector<ValueId> pack_branches(ValueId x, ValueId ragged, ValueId decision, const std::vector<int32_t>& branches);
  ValueId gather(std::vector<ValueId> values, SpaceId space, std::string_view mode, ValueId otherwise = kNone,
                 std::string_view name = {});

  /// begin_body() opens a body of a guard or repeat; add_region() closes the last `yields.size()` bodies and adds the
  /// node.
  void begin_body();
  void end_body(std::vector<ValueId> yields);
  NodeId add_region(std::string_view op, std::vector<ValueId> inputs, Attributes attributes, std::string_view name);

  /// `real`: the mask over its cells where only the real ones count.
  void output(std::string_view name, ValueId value, ValueId real = kNone);
  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }
  /// Verifies and hands the graph over.
  Graph finish();

 private:
  Block& block() { return open_.empty() ? graph_.top : open_.back(); }
  ValueId add_value(std::string_view name, ValueKind kind, TensorType type);
  std::string unique(std::string_view name);

  Graph graph_;
  std::vector<Block> open_, closed_;
  std::vector<std::vector<ValueId>> yields_;
  ValueNames names_;
  std::map<std::string, ValueId, std::less<>> weights_;    // by the name asked for
  std::map<std::pair<ValueId, int32_t>, SpaceId> routed_;  // by decision and branch
};

}  // namespace stormcell
