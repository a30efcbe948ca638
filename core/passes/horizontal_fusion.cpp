// scatter -> the same nodes in every branch -> gather becomes the nodes of one branch over the decision's slots. A node
// with weights of its own in each branch (a product, a convolution, a norm) becomes its grouped form, which reads the
// cells' rows itself, so that the scatter before it disappears. If branches pack the members of what they are sent, all
// members are packed, once. Absent branches cost nothing. Every row meets the same numbers in the same order: bit for
// bit the same.
#include "core/passes/horizontal_fusion.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/graph/spaces.h"
#include "core/passes/alike_branches.h"
#include "core/passes/grouped_form.h"
#include "core/passes/reasons.h"

namespace stormcell {
namespace {

/// "expert.*.up" of "expert.0.up" and "expert.7.up".
std::string common_name(const std::string& a, const std::string& b) {
  if (a == b) return a;
  const size_t shorter = std::min(a.size(), b.size());
  size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return a.substr(0, head) + "*" + a.substr(a.size() - tail);
}

/// Makes one of the branches of a region that are alike.
class BranchFusion {
 public:
  BranchFusion(Rewriter& rewriter, const Region& region, const AlikeBranches& branches)
      : rewriter_(rewriter), region_(region), branches_(branches), decision_(region.decisions.at(0)) {}

  /// False where nodes between scatters and gathers depend on the region.
  bool fuse() {
    const std::optional<size_t> first = rewriter_.bring_together(region_.block, region_.nodes);
    if (!first) return false;
    slots_ = rewriter_.routed_space(decision_, kAllBranches);
    find_sent();
    for (const NodeId id : branches_.model()) merge(id);
    for (const NodeId id : region_.gathers) join(id);
    rewriter_.replace_run(region_.block, *first, region_.nodes.size(), made_);
    return true;
  }
  /// Scatters and packs that are still there.
  size_t scatters() const { return scattered_.size(); }

 private:
  const Graph& graph() const { return rewriter_.graph(); }

  /// The cells of all slots, or of their members, in place of cells of the first branch.
  SpaceId all_cells(SpaceId cells) {
    return graph().holds_members(cells) ? ragged_space(rewriter_.graph(), graph().space(cells).offsets, slots_)
                                        : slots_;
  }

  /// Flows that something else reads than what reads cells' rows itself.
  void find_sent() {
    for (const NodeId id : branches_.model()) {
      const Node& node = graph().node(id);
      for (size_t i = has_grouped_form(node) ? 1 : 0; i < node.inputs.size(); ++i) sent_anyway_.insert(node.inputs[i]);
    }
    for (const NodeId id : region_.gathers)
      sent_anyway_.insert(graph().node(id).inputs.begin(), graph().node(id).inputs.end());
  }

  /// The value of all slots in place of a value of the first branch.
  ValueId over_slots(ValueId v) {
    if (const auto at = merged_.find(v); at != merged_.end()) return at->second;
    const AlikeBranches::Sent* sent = branches_.sent_as(v);
    if (!sent) return v;  // a weight that all branches share
    if (const auto at = scattered_.find(*sent); at != scattered_.end()) return at->second;
    const auto [rows, ragged] = *sent;
    const std::vector spaces{int64_t{all_cells(graph().value(v).type.space)}};
    const std::string name = router_name(graph(), decision_) + ".slots";
    const NodeId node = ragged == kNone ? rewriter_.make_node("scatter", {rows, decision_}, {{"spaces", spaces}}, name)
                                        : rewriter_.make_node("pack", {rows, ragged}, {{"spaces", spaces}}, name);
    made_.push_back(node);
    return scattered_[*sent] = graph().node(node).outputs[0];
  }

  void merge(NodeId id) {
    const Node model = graph().node(id);
    std::vector<ValueId> inputs;
    Attributes attributes = model.attributes;
    if (has_grouped_form(model)) {
      inputs = grouped_inputs(model);
      attributes = attributes_over_slots(model);
    } else {
      for (const ValueId v : model.inputs) inputs.push_back(over_slots(v));
    }
    const NodeId made = rewriter_.make_node(
        has_grouped_form(model) ? model.op->grouped_as : model.op->name, std::move(inputs), std::move(attributes),
        common_name(model.name, branches_.same_node(model, branches_.present().back()).name));
    rewriter_.take_annotations(made, id);
    made_.push_back(made);
    merged_[model.outputs[0]] = graph().node(made).outputs[0];
  }

  /// Whether a grouped node reads the cells' rows itself, instead of rows that were sent to slots. If another node
  /// needs them sent, blocks of convolutions read the same rows as what is added to their results.
  bool reads_cells(const Node& model) const {
    const AlikeBranches::Sent* sent = branches_.sent_as(model.inputs[0]);
    if (!sent || sent->second != kNone) return false;
    return model.op->chains_as.empty() || !sent_anyway_.contains(model.inputs[0]);
  }

  /// Rows, decision, each weight of all branches, what else the node takes.
  std::vector<ValueId> grouped_inputs(const Node& model) {
    const ValueId rows = reads_cells(model) ? branches_.sent_as(model.inputs[0])->first : over_slots(model.inputs[0]);
    std::vector<ValueId> inputs{rows, decision_};
    const std::vector<size_t> own = own_weights(model);
    for (const size_t i : own)
      for (const int32_t b : branches_.present()) inputs.push_back(branches_.same_node(model, b).inputs[i]);
    for (size_t i = plain_inputs(model); i < model.inputs.size(); ++i)
      if (std::find(own.begin(), own.end(), i) == own.end()) inputs.push_back(over_slots(model.inputs[i]));
    return inputs;
  }
  Attributes attributes_over_slots(const Node& model) {
    Attributes attributes = grouped_attributes(model);
    attributes.set("branches", std::vector<int64_t>(branches_.present().begin(), branches_.present().end()));
    attributes.set("slots", int64_t{all_cells(graph().value(model.outputs[0]).type.space)});
    return attributes;
  }

  void join(NodeId id) {
    const Node before = graph().node(id);
    const std::vector<size_t> own = branches_.own_inputs(before);
    const bool alone = own.size() == plain_inputs(before);
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < before.inputs.size(); ++i) {
      const bool mine = std::find(own.begin(), own.end(), i) != own.end();
      if (!mine) inputs.push_back(before.inputs[i]);
      if (mine && branches_.branch_of(before.inputs[i]) == branches_.present()[0])
        inputs.push_back(over_slots(before.inputs[i]));
    }
    Node& node = rewriter_.graph().node(id);
    node.inputs = std::move(inputs);
    // A cell has one row at most, but of each router. Rows of members are placed: a sum of theirs begins at 0, which
    // makes 0 of -0.
    const bool members = graph().holds_members(graph().value(before.inputs[own[0]]).type.space);
    if (alone && !members && node.attributes.word("mode") == "place") node.attributes.set("mode", std::string("sum"));
    const std::vector<int32_t>& present = branches_.present();
    if (static_cast<int32_t>(present.size()) < graph().value(decision_).branches)
      node.attributes.set("branches", std::vector<int64_t>(present.begin(), present.end()));
    made_.push_back(id);
  }

  Rewriter& rewriter_;
  const Region& region_;
  const AlikeBranches& branches_;
  ValueId decision_;
  SpaceId slots_ = kNone;
  ValueMap merged_;  // values of the model -> over all slots
  std::map<AlikeBranches::Sent, ValueId> scattered_;
  std::set<ValueId> sent_anyway_;
  std::vector<NodeId> made_;
};

/// The kernels that the device lacks for the grouped forms of the branches' nodes; empty: none.
std::string missing_kernels(const PassInput& input, const AlikeBranches& branches) {
  AskedKernels kernels(input);
  for (const auto& [op, count] : branches.grouped()) kernels.has(find_operator(op)->grouped_as);
  return kernels.missing();
}

}  // namespace

PassResult horizontal_fusion(const PassInput& input) {
  Rewriter rewriter(input.graph);
  Refusals refusals;
  std::set<std::string> fused;
  std::map<std::string_view, std::pair<size_t, size_t>> became;  // by operator: nodes in branches, grouped nodes
  size_t routers = 0, scatters = 0;
  const size_t least = input.option(kLeastBranches);
  for (const BlockPlace place : blocks_of(rewriter.graph(), Fallbacks::included))
    for (const ValueId decision : decisions_of(rewriter.graph(), place)) {
      const std::string router = router_name(rewriter.graph(), decision);
      ++routers;
      for (const Region& region : find_regions(rewriter.graph(), place, decision)) {
        const Region own = part_behind(rewriter.graph(), region, std::span(&decision, 1));
        AlikeBranches branches(rewriter.graph(), own);
        std::string why = branches.compare();
        const size_t present = branches.present().size();
        if (why.empty() && present < least)
          why = "it has " + counted(static_cast<int64_t>(present), "branch") + " left, fewer than " +
                std::to_string(least);
        if (why.empty()) why = missing_kernels(input, branches);
        BranchFusion fusion(rewriter, own, branches);
        if (why.empty() && !fusion.fuse()) why = kDependOnIt;
        if (!why.empty()) {
          refusals.emplace_back(router, why);
          continue;
        }
        fused.insert(router);
        for (const auto& [op, count] : branches.grouped()) {
          became[op].first += count * present;
          became[op].second += count;
        }
        scatters += branches.scatters() - std::min(branches.scatters(), fusion.scatters());
      }
    }
  PassResult result;
  result.applied = !fused.empty();
  result.graph = result.applied ? rewriter.finish() : input.graph;
  if (result.applied) {
    std::string what;
    for (const auto& [op, count] : became)
      add_to_list(what, with_commas(static_cast<int64_t>(count.first)) + " " + std::string(op) + " became " +
                            with_commas(static_cast<int64_t>(count.second)) + " " +
                            std::string(find_operator(op)->grouped_as));
    if (scatters > 0) what += "; " + counted(static_cast<int64_t>(scatters), "scatter") + " removed";
    result.reason = with_refusals(
        counted(std::ssize(fused), "router") + ": " + what + (has_guards(input.graph) ? " (fallbacks included)" : ""),
        refusals);
  } else {
    result.reason = routers == 0 ? "no router of the graph has branches that are joined" : with_refusals({}, refusals);
  }
  return result;
}

}  // namespace stormcell
