// scatter -> the same nodes in every branch -> gather becomes the nodes of one branch over the decision's slots: what has weights of its
// own in each branch (a product, a convolution, a norm) becomes its grouped form, which reads the cells' rows itself, so that the scatter
// before it disappears. Of branches that pack the members of what they are sent, all members are packed, once. Absent branches cost
// nothing. Every row meets the same numbers in the same order: bit for bit the same.
#include "core/passes/horizontal_fusion.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/graph/spaces.h"
#include "core/passes/reasons.h"
#include "core/passes/region.h"

namespace stormcell {
namespace {

std::string attribute_text(const Node& node, const std::string& key) {
  for (const auto& [name, value] : node.attributes) {
    if (name != key) continue;
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
    return "another list";
  }
  return "none";
}

/// The first attribute that is not exactly the same in both; empty where all are.
std::string unlike_attribute(const Node& x, const Node& y) {
  const auto value_of = [](const Node& node, const std::string& key) -> const Attribute* {
    for (const auto& [name, value] : node.attributes)
      if (name == key) return &value;
    return nullptr;
  };
  for (const Node* node : {&x, &y})
    for (const auto& [key, value] : node->attributes) {
      const Attribute *a = value_of(x, key), *b = value_of(y, key);
      if (!a || !b || *a != *b) return key;
    }
  return {};
}

/// What a product has as an extra and its grouped form for each branch, and the flag that says so there.
constexpr std::string_view kOwnExtra = "bias", kOwnExtras = "biases";
bool is_owned(const Operator& grouped, std::string_view extra) { return extra == kOwnExtra && knows(grouped, kOwnExtras); }
/// The input that holds a product's own bias, where it has one.
std::optional<size_t> own_bias(const Node& product) {
  if (product.op->grouped_as.empty() || !is_owned(*find_operator(product.op->grouped_as), kOwnExtra)) return {};
  return extra_input(product, kOwnExtra, plain_inputs(product));
}
/// The inputs of which its grouped form has one for each branch: all weights before the extras, and a bias.
std::vector<size_t> own_weights(const Node& product) {
  std::vector<size_t> own;
  if (product.op->grouped_as.empty()) return own;
  for (size_t i = 1; i < plain_inputs(product); ++i) own.push_back(i);
  if (const auto bias = own_bias(product)) own.push_back(*bias);
  return own;
}

/// The first extra or attribute of a product that its grouped form does not know; empty: it knows all.
std::string not_grouped(const Node& product) {
  const Operator& grouped = *find_operator(product.op->grouped_as);
  for (const auto& [name, value] : product.attributes)
    if (!knows(grouped, name) && value != Attribute(int64_t{0})) return name;
  for (size_t i = 0; i < extra_count(product); ++i)
    if (const std::string extra = extra_name(product, i); !knows(grouped, extra) && !is_owned(grouped, extra)) return extra;
  return {};
}

/// What two nodes that are to become one say differently of themselves or of what they make; empty: nothing. A kernel is chosen for one
/// operator, and says nothing of another.
std::string unlike_annotations(const Graph& graph, const Node& x, const Node& y) {
  for (const Node* node : {&x, &y})
    if (!node->op->grouped_as.empty() && node->annotations.find(kKernel)) return node_text(*node) + " has a kernel chosen for it alone";
  const auto apart = [](const Annotations& a, const Annotations& b, const std::string& what) {
    const auto said = [](const Annotations& annotations) { return annotations.empty() ? " nothing" : to_text(annotations); };
    return a == b ? std::string() : "of " + what + " is said" + said(b) + ", of the first branch's" + said(a);
  };
  if (std::string why = apart(x.annotations, y.annotations, node_text(y)); !why.empty()) return why;
  const Value& made = graph.value(y.outputs[0]);
  return apart(graph.value(x.outputs[0]).annotations, made.annotations, "%" + made.name);
}

/// "expert.*.up" of "expert.0.up" and "expert.7.up".
std::string common_name(const std::string& a, const std::string& b) {
  if (a == b) return a;
  const size_t shorter = std::min(a.size(), b.size());
  size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return a.substr(0, head) + "*" + a.substr(a.size() - tail);
}

/// One region, behind one decision, whose branches are to run as one.
class BranchFusion {
 public:
  BranchFusion(Rewriter& rewriter, const Region& region) : rewriter_(rewriter), region_(region), decision_(region.decisions.at(0)) {}

  /// Why the branches cannot run as one; empty where they can.
  std::string obstacle() {
    if (!region_.obstacle.empty()) return region_.obstacle;
    std::string why = sort_nodes();
    if (why.empty()) why = check_gathers();
    for (size_t i = 0; why.empty() && i < present_.size(); ++i) why = match(present_[i]);
    if (why.empty() && products_.empty()) why = "its branches hold no product";
    return why;
  }

  /// False where nodes between scatters and gathers depend on the region.
  bool fuse() {
    const std::optional<size_t> first = rewriter_.bring_together(region_.block, region_.nodes);
    if (!first) return false;
    slots_ = rewriter_.routed_space(decision_, kAllBranches);
    find_sent();
    for (const NodeId id : chains_[present_[0]]) merge(id);
    for (const NodeId id : region_.gathers) join(id);
    rewriter_.replace_run(region_.block, *first, region_.nodes.size(), made_);
    return true;
  }

  /// How many nodes of each operator a branch had that became grouped.
  const std::map<std::string_view, size_t>& products() const { return products_; }
  size_t branches() const { return present_.size(); }
  size_t scatters_before() const { return flows_.size(); }
  size_t scatters_after() const { return scattered_.size(); }

 private:
  const Graph& graph() const { return rewriter_.graph(); }

  /// The routed space of the decision that cells are of, or whose members they are; kNone: neither.
  SpaceId slots_of(SpaceId cells) const {
    const SpaceId slots = graph().holds_members(cells) ? graph().space(cells).parent : cells;
    return graph().space(slots).decision == decision_ ? slots : kNone;
  }

  std::string sort_nodes() {
    for (const NodeId id : region_.nodes) {
      const Node& node = graph().node(id);
      if (std::find(region_.gathers.begin(), region_.gathers.end(), id) != region_.gathers.end()) continue;
      if (has_role(node, Role::open) && sends_by(graph(), node) == decision_) {
        const ValueId told_by = graph().holds_members(graph().value(node.outputs[0]).type.space) ? node.inputs[1] : kNone;
        const std::vector<int32_t> sent = branches_sent(graph(), node);
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          const int32_t branch = sent[i];
          if (branch == kAllBranches) return "it works on slots already";
          if (!graph().value(node.outputs[i]).annotations.empty())
            return "rows that " + node_text(node) + " sends lie in a format of their own, and would not be sent";
          flow_of_[node.outputs[i]] = {node.inputs[0], told_by};
          flows_[id][branch] = node.outputs[i];
        }
        continue;
      }
      const SpaceId space = node.outputs.size() == 1 ? graph().value(node.outputs[0]).type.space : kNone;
      const SpaceId slots = space == kNone ? kNone : slots_of(space);
      if (slots == kNone || is_route(node)) {
        const std::vector<int32_t> in = branches_of_node(graph(), decision_, id);
        return (in.empty() ? "it" : "branch " + std::to_string(in[0])) + " holds " + node_text(node);
      }
      if (graph().space(slots).branch == kAllBranches) return "it works on slots already";
      chains_[graph().space(slots).branch].push_back(id);
    }
    return {};
  }

  std::string check_gathers() {
    const Value& decision = graph().value(decision_);
    for (const NodeId id : region_.gathers) {
      const Node& node = graph().node(id);
      const bool place = node.attributes.word("mode") == "place";
      if (place && decision.fan_out > 1) return node_text(node) + " places rows, of which a cell may have several";
      if (graph().value(node.outputs[0]).type.dtype != DType::f32) return node_text(node) + " joins integers";
      if (node.annotations.find(kKernel)) return node_text(node) + " has a kernel chosen for rows of single branches";
      std::vector<int32_t> joined;
      bool members = false;
      for (const size_t i : own_inputs(node)) {
        const SpaceId from = graph().value(node.inputs[i]).type.space;
        if (graph().origin(from) != SpaceId(node.attributes.integer("space"))) return node_text(node) + " joins in a space further up";
        members = members || graph().holds_members(from);
        joined.push_back(branch_of(node.inputs[i]));
      }
      if (joined.size() < plain_inputs(node))
        if (std::string why = check_others(node, joined); !why.empty()) return why;
      // Rows of members are summed branch after branch, those of slots by the order of choices.
      if (members && decision.fan_out > 1 && !std::is_sorted(joined.begin(), joined.end()))
        return node_text(node) + " sums members of its branches in another order than theirs";
      std::sort(joined.begin(), joined.end());
      if (std::adjacent_find(joined.begin(), joined.end()) != joined.end()) return node_text(node) + " joins a branch twice";
      if (members && place && static_cast<int32_t>(joined.size()) < decision.branches)
        return node_text(node) + " places members of some of its branches";
      if (present_.empty()) present_ = joined;
      if (present_ != joined) return "its gathers join different branches";
    }
    for (const auto& [branch, nodes] : chains_)
      if (!std::binary_search(present_.begin(), present_.end(), branch)) return "branch " + std::to_string(branch) + " leads nowhere";
    return {};
  }

  /// Which of a gather's values come from branches of the decision; the others are rows of other routers.
  std::vector<size_t> own_inputs(const Node& gather) const {
    std::vector<size_t> own;
    for (size_t i = 0; i < plain_inputs(gather); ++i)
      if (branch_within(graph(), graph().value(gather.inputs[i]).type.space, decision_)) own.push_back(i);
    return own;
  }
  int32_t branch_of(ValueId v) const { return *branch_within(graph(), graph().value(v).type.space, decision_); }

  /// Beside rows of other routers, slots stand for branches only where every slot is computed, and in the order in which they are summed.
  std::string check_others(const Node& gather, const std::vector<int32_t>& joined) const {
    const std::vector<size_t> own = own_inputs(gather);
    if (own.empty()) return node_text(gather) + " joins none of its branches";
    if (own.back() - own.front() + 1 != own.size() || !std::is_sorted(joined.begin(), joined.end()))
      return node_text(gather) + " joins rows of other routers between those of its branches";
    if (joined.size() != static_cast<size_t>(graph().value(decision_).branches))
      return node_text(gather) + " joins rows of other routers beside some of its branches";
    return {};
  }

  /// Compares a branch with the first one, node by node, and notes what corresponds to what.
  std::string match(int32_t branch) {
    const int32_t model = present_[0];
    const std::vector<NodeId>&a = chains_[model], &b = chains_[branch];
    const std::string here = "branch " + std::to_string(branch), there = "branch " + std::to_string(model);
    ValueMap& same = same_[branch];
    for (const auto& [scatter, parts] : flows_)
      if (parts.contains(model) && parts.contains(branch)) same[parts.at(model)] = parts.at(branch);
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      if (i >= b.size()) return here + " has no " + node_text(graph().node(a[i])) + " as " + there + " has";
      if (i >= a.size()) return here + " has one more, " + node_text(graph().node(b[i])) + ", than " + there;
      const Node &x = graph().node(a[i]), &y = graph().node(b[i]);
      if (x.op != y.op) return here + " has " + node_text(y) + " where " + there + " has " + node_text(x);
      if (const std::string key = unlike_attribute(x, y); !key.empty())
        return here + " has " + node_text(y) + " with " + key + " " + attribute_text(y, key) + ", " + there + " " + attribute_text(x, key);
      if (const std::string why = unlike_annotations(graph(), x, y); !why.empty()) return here + ": " + why;
      if (std::string why = match_inputs(x, y, same, here, there); !why.empty()) return why;
      same[x.outputs[0]] = y.outputs[0];
    }
    for (const NodeId id : region_.gathers) {
      const Node& node = graph().node(id);
      ValueId of_model = kNone, of_branch = kNone;
      for (const size_t i : own_inputs(node)) {
        const int32_t from = branch_of(node.inputs[i]);
        if (from == model) of_model = node.inputs[i];
        if (from == branch) of_branch = node.inputs[i];
      }
      if (const auto at = same.find(of_model); at == same.end() || at->second != of_branch)
        return node_text(node) + " joins another part of " + here + " than of " + there;
    }
    return {};
  }

  std::string match_inputs(const Node& x, const Node& y, const ValueMap& same, const std::string& here, const std::string& there) {
    const bool product = !x.op->grouped_as.empty();
    if (!has_role(x, Role::pointwise)) return here + " holds " + node_text(y);
    if (product)
      if (const std::string word = not_grouped(y); !word.empty())
        return here + " has " + word + " in " + node_text(y) + ", which grouped products do not take";
    if (x.inputs.size() != y.inputs.size()) return here + " has " + node_text(y) + " with other inputs than " + there;
    const std::vector<size_t> own = own_weights(y);
    for (size_t i = 0; i < x.inputs.size(); ++i) {
      const Value &in_x = graph().value(x.inputs[i]), &in_y = graph().value(y.inputs[i]);
      if (in_x.kind == ValueKind::weight && in_y.kind == ValueKind::weight) {
        if (in_x.type != in_y.type)
          return here + " has " + node_text(y) + " with weights " + type_text(graph(), in_y.type) + ", " + there + " " +
                 type_text(graph(), in_x.type);
        if (format_in_products(in_x) != format_in_products(in_y))
          return here + " has " + node_text(y) + " with weights held in " + std::string(to_text(format_in_products(in_y))) + ", " + there +
                 " in " + std::string(to_text(format_in_products(in_x)));
        // Only what has a grouped form has weights for each branch, and biases.
        if (std::find(own.begin(), own.end(), i) == own.end() && x.inputs[i] != y.inputs[i])
          return here + " has weights of its own in " + node_text(y);
      } else if (const auto at = same.find(x.inputs[i]); at == same.end() || at->second != y.inputs[i]) {
        return here + " has " + node_text(y) + " with other inputs than " + there;
      }
    }
    if (product && &x == &y) ++products_[x.op->name];
    return {};
  }

  /// The cells of all slots, or of their members, that stand for cells of the first branch.
  SpaceId all_cells(SpaceId cells) {
    return graph().holds_members(cells) ? ragged_space(rewriter_.graph(), graph().space(cells).offsets, slots_) : slots_;
  }

  /// Flows that something else reads than what reads cells' rows itself.
  void find_sent() {
    for (const NodeId id : chains_[present_[0]]) {
      const Node& node = graph().node(id);
      for (size_t i = node.op->grouped_as.empty() ? 0 : 1; i < node.inputs.size(); ++i) sent_anyway_.insert(node.inputs[i]);
    }
    for (const NodeId id : region_.gathers) sent_anyway_.insert(graph().node(id).inputs.begin(), graph().node(id).inputs.end());
  }

  /// Value of all slots that stands for a value of the first branch.
  ValueId over_slots(ValueId v) {
    if (const auto at = merged_.find(v); at != merged_.end()) return at->second;
    const auto flow = flow_of_.find(v);
    if (flow == flow_of_.end()) return v;  // a weight that all branches share
    if (const auto at = scattered_.find(flow->second); at != scattered_.end()) return at->second;
    const auto [rows, ragged] = flow->second;
    const std::vector spaces{int64_t{all_cells(graph().value(v).type.space)}};
    const std::string name = router_name(graph(), decision_) + ".slots";
    const NodeId sent = ragged == kNone ? rewriter_.make_node("scatter", {rows, decision_}, {{"spaces", spaces}}, name)
                                        : rewriter_.make_node("pack", {rows, ragged}, {{"spaces", spaces}}, name);
    made_.push_back(sent);
    return scattered_[flow->second] = graph().node(sent).outputs[0];
  }

  void merge(NodeId id) {
    const Node model = graph().node(id);
    const bool product = !model.op->grouped_as.empty();
    std::vector<ValueId> inputs;
    Attributes attributes = model.attributes;
    if (product) {
      inputs = grouped_inputs(model);
      attributes = grouped_attributes(model);
    } else {
      for (const ValueId v : model.inputs) inputs.push_back(over_slots(v));
    }
    const NodeId made = rewriter_.make_node(product ? model.op->grouped_as : model.op->name, std::move(inputs), std::move(attributes),
                                            common_name(model.name, same_node(model, present_.back()).name));
    rewriter_.take_annotations(made, id);
    made_.push_back(made);
    merged_[model.outputs[0]] = graph().node(made).outputs[0];
  }
  /// The node of a branch that does what this one of the first branch does.
  const Node& same_node(const Node& model, int32_t branch) const {
    return graph().node(graph().value(same_.at(branch).at(model.outputs[0])).producer);
  }

  /// Whether a product reads the cells' rows itself, instead of rows that were sent to slots. Where something else needs them sent, blocks
  /// of convolutions read the same rows as what is added to their results.
  bool reads_cells(const Node& model) const {
    const auto flow = flow_of_.find(model.inputs[0]);
    if (flow == flow_of_.end() || flow->second.second != kNone) return false;
    return model.op->chains_as.empty() || !sent_anyway_.contains(model.inputs[0]);
  }

  /// Rows, decision, each weight of all branches, what else the product takes.
  std::vector<ValueId> grouped_inputs(const Node& model) {
    std::vector<ValueId> inputs{reads_cells(model) ? flow_of_.at(model.inputs[0]).first : over_slots(model.inputs[0]), decision_};
    const std::vector<size_t> own = own_weights(model);
    for (const size_t i : own)
      for (const int32_t b : present_) inputs.push_back(same_node(model, b).inputs[i]);
    for (size_t i = plain_inputs(model); i < model.inputs.size(); ++i)
      if (std::find(own.begin(), own.end(), i) == own.end()) inputs.push_back(over_slots(model.inputs[i]));
    return inputs;
  }
  Attributes grouped_attributes(const Node& model) {
    const Operator& grouped = *find_operator(model.op->grouped_as);
    Node carries = model;
    if (own_bias(model)) {
      remove_extra(carries, kOwnExtra);
      carries.attributes.set(kOwnExtras, int64_t{1});
    }
    for (const auto& [name, value] : model.attributes)
      if (!knows(grouped, name)) carries.attributes.erase(name);  // 0, as not_grouped() found
    carries.attributes.set("branches", std::vector<int64_t>(present_.begin(), present_.end()));
    carries.attributes.set("slots", int64_t{all_cells(graph().value(model.outputs[0]).type.space)});
    return carries.attributes;
  }

  void join(NodeId id) {
    const Node before = graph().node(id);
    const std::vector<size_t> own = own_inputs(before);
    const bool alone = own.size() == plain_inputs(before);
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < before.inputs.size(); ++i) {
      const bool mine = std::find(own.begin(), own.end(), i) != own.end();
      if (!mine) inputs.push_back(before.inputs[i]);
      if (mine && branch_of(before.inputs[i]) == present_[0]) inputs.push_back(over_slots(before.inputs[i]));
    }
    Node& node = rewriter_.graph().node(id);
    node.inputs = std::move(inputs);
    // A cell has one row at most, but of each router. Rows of members are placed: a sum of theirs begins at 0, which makes 0 of -0.
    const bool members = graph().holds_members(graph().value(before.inputs[own[0]]).type.space);
    if (alone && !members && node.attributes.word("mode") == "place") node.attributes.set("mode", std::string("sum"));
    if (static_cast<int32_t>(present_.size()) < graph().value(decision_).branches)
      node.attributes.set("branches", std::vector<int64_t>(present_.begin(), present_.end()));
    made_.push_back(id);
  }

  Rewriter& rewriter_;
  const Region& region_;
  ValueId decision_;
  using Sent = std::pair<ValueId, ValueId>;             // rows, and the ragged cells that tell the members to pack; kNone: as cells
  std::map<NodeId, std::map<int32_t, ValueId>> flows_;  // scatter or pack -> branch -> what it gives there
  std::map<ValueId, Sent> flow_of_;                     // what it gives -> of what
  std::map<int32_t, std::vector<NodeId>> chains_;
  std::vector<int32_t> present_;      // branches that the gathers join
  std::map<int32_t, ValueMap> same_;  // values of the first branch -> of this one
  std::map<std::string_view, size_t> products_;
  SpaceId slots_ = kNone;
  ValueMap merged_;
  std::map<Sent, ValueId> scattered_;
  std::set<ValueId> sent_anyway_;
  std::vector<NodeId> made_;
};

}  // namespace

PassResult horizontal_fusion(const PassInput& input) {
  Rewriter rewriter(input.graph);
  Refusals refusals;
  std::set<std::string> fused;
  std::map<std::string_view, std::pair<size_t, size_t>> products;  // of an operator -> in branches, grouped
  size_t routers = 0, scatters = 0;
  const auto least = static_cast<size_t>(input.option(kLeastBranches));
  for (const BlockPlace place : blocks_of(rewriter.graph(), Fallbacks::included))
    for (const ValueId decision : decisions_of(rewriter.graph(), place)) {
      const std::string router = router_name(rewriter.graph(), decision);
      ++routers;
      for (const Region& region : find_regions(rewriter.graph(), place, decision)) {
        const Region own = part_behind(rewriter.graph(), region, std::span(&decision, 1));
        BranchFusion fusion(rewriter, own);
        std::string why = fusion.obstacle();
        if (why.empty() && fusion.branches() < least)
          why = "it has " + counted(static_cast<int64_t>(fusion.branches()), "branch") + " left, fewer than " + std::to_string(least);
        if (why.empty() && !fusion.fuse()) why = "nodes between its scatters and gathers depend on it";
        if (!why.empty()) {
          refusals.emplace_back(router, why);
          continue;
        }
        fused.insert(router);
        for (const auto& [op, count] : fusion.products()) {
          products[op].first += count * fusion.branches();
          products[op].second += count;
        }
        scatters += fusion.scatters_before() - std::min(fusion.scatters_before(), fusion.scatters_after());
      }
    }
  PassResult result;
  result.applied = !fused.empty();
  result.graph = result.applied ? rewriter.finish() : input.graph;
  if (result.applied) {
    std::string became;
    for (const auto& [op, count] : products)
      add_to_list(became, with_commas(static_cast<int64_t>(count.first)) + " " + std::string(op) + " became " +
                              with_commas(static_cast<int64_t>(count.second)) + " " + std::string(find_operator(op)->grouped_as));
    if (scatters > 0) became += "; " + counted(static_cast<int64_t>(scatters), "scatter") + " removed";
    result.reason = with_refusals(
        counted(static_cast<int64_t>(fused.size()), "router") + ": " + became + (has_guards(input.graph) ? " (fallbacks included)" : ""),
        refusals);
  } else {
    result.reason = routers == 0 ? "the graph has no router whose branches are joined" : with_refusals({}, refusals);
  }
  return result;
}

}  // namespace stormcell
