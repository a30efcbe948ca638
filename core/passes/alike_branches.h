// Branches of one decision that do the same, node by node, each with weights of its own.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/rewrite.h"
#include "core/passes/region.h"

namespace stormcell {

/// Compares the branches behind a region's decision between its scatters and gathers.
class AlikeBranches {
 public:
  /// Rows that a scatter or pack sends to branches, and the ragged cells that name their members to pack; kNone: the
  /// cells themselves.
  using Sent = std::pair<ValueId, ValueId>;

  /// Both must outlive it; `region` is behind one decision.
  AlikeBranches(const Graph& graph, const Region& region)
      : graph_(graph), region_(region), decision_(region.decisions.at(0)) {}

  /// Once, before all below, which holds where they are alike. Says why they are not, with the branch and the node
  /// where they first differ; empty where they are.
  std::string compare();

  /// The branches that the gathers join, in ascending order; the first is the model of all.
  const std::vector<int32_t>& present() const { return present_; }
  /// The model's nodes in their order.
  const std::vector<NodeId>& model() const { return chains_.at(present_[0]); }
  /// The node of a branch that does what this one of the model does.
  const Node& same_node(const Node& model, int32_t branch) const {
    return graph_.node(graph_.value(same_.at(branch).at(model.outputs[0])).producer);
  }
  /// The way in which a scatter or pack gives a value to a branch; null: none does.
  const Sent* sent_as(ValueId value) const;
  /// The inputs of a gather that come from branches of the decision; the others are rows of other routers.
  std::vector<size_t> own_inputs(const Node& gather) const;
  int32_t branch_of(ValueId value) const { return *branch_within(graph_, graph_.value(value).type.space, decision_); }
  /// Scatters and packs that send to the branches.
  size_t scatters() const { return flows_.size(); }
  /// How many nodes with a grouped form the model has, by operator.
  const std::map<std::string_view, size_t>& grouped() const { return grouped_; }

 private:
  SpaceId slots_of(SpaceId cells) const;
  std::string sort_nodes();
  std::string note_sent(NodeId id);
  std::string check_gathers();
  std::string check_others(const Node& gather, const std::vector<int32_t>& joined) const;
  std::string match(int32_t branch);
  std::string match_inputs(const Node& x, const Node& y, const ValueMap& same, const std::string& here,
                           const std::string& there);
  std::string unlike_weights(const Value& x, const Value& y, const std::string& node, const std::string& there) const;
  std::string match_gathers(int32_t branch) const;

  const Graph& graph_;
  const Region& region_;
  ValueId decision_;
  std::map<NodeId, std::map<int32_t, ValueId>> flows_;  ///< scatter or pack -> branch -> what it gives there
  std::map<ValueId, Sent> flow_of_;                     ///< by value that a branch gets: what it was sent from
  std::map<int32_t, std::vector<NodeId>> chains_;       ///< nodes by branch
  std::vector<int32_t> present_;
  std::map<int32_t, ValueMap> same_;  ///< values of the model -> of this branch
  std::map<std::string_view, size_t> grouped_;
};

}  // namespace stormcell
