// scatter -> the same chain in every branch -> gather becomes one chain over the decision's slots: each product of the branches one grouped
// product, with a bias for each branch where they have one, which reads the cells' rows itself, so that the scatter before it disappears.
// Absent branches cost nothing. Every row meets the same numbers in the same order: bit for bit the same.
#include "core/passes/horizontal_fusion.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
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
    if (why.empty() && products_ == 0) why = "its branches hold no product";
    return why;
  }

  /// False where nodes between scatters and gathers depend on the region.
  bool fuse() {
    const std::optional<size_t> first = rewriter_.bring_together(region_.block, region_.nodes);
    if (!first) return false;
    slots_ = rewriter_.routed_space(decision_, kAllBranches);
    for (const NodeId id : chains_[present_[0]]) merge(id);
    for (const NodeId id : region_.gathers) join(id);
    rewriter_.replace_run(region_.block, *first, region_.nodes.size(), made_);
    return true;
  }

  size_t products() const { return products_; }
  size_t branches() const { return present_.size(); }
  size_t scatters_before() const { return flows_.size(); }
  size_t scatters_after() const { return scattered_.size(); }

 private:
  const Graph& graph() const { return rewriter_.graph(); }

  std::string sort_nodes() {
    for (const NodeId id : region_.nodes) {
      const Node& node = graph().node(id);
      if (std::find(region_.gathers.begin(), region_.gathers.end(), id) != region_.gathers.end()) continue;
      const bool sends = has_role(node, Role::open) && sends_by(graph(), node) == decision_;
      if (sends && graph().space(graph().value(node.outputs[0]).type.space).decision == decision_) {
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          const int32_t branch = graph().space(graph().value(node.outputs[i]).type.space).branch;
          if (branch == kAllBranches) return "it works on slots already";
          if (!graph().value(node.outputs[i]).annotations.empty())
            return "rows that " + node_text(node) + " sends lie in a format of their own, and would not be sent";
          flow_of_[node.outputs[i]] = {node.inputs[0], branch};
          flows_[id][branch] = node.outputs[i];
        }
        continue;
      }
      const SpaceId space = node.outputs.size() == 1 ? graph().value(node.outputs[0]).type.space : kNone;
      if (space == kNone || graph().space(space).decision != decision_ || is_route(node)) {
        const std::vector<int32_t> in = branches_of_node(graph(), decision_, id);
        return (in.empty() ? "it" : "branch " + std::to_string(in[0])) + " holds " + node_text(node);
      }
      if (graph().space(space).branch == kAllBranches) return "it works on slots already";
      chains_[graph().space(space).branch].push_back(id);
    }
    return {};
  }

  std::string check_gathers() {
    const Value& decision = graph().value(decision_);
    for (const NodeId id : region_.gathers) {
      const Node& node = graph().node(id);
      const std::string& mode = node.attributes.word("mode");
      if (SpaceId(node.attributes.integer("space")) != decision.type.space) return node_text(node) + " joins in a space further up";
      if (mode == "place" && decision.fan_out > 1) return node_text(node) + " places rows, of which a cell may have several";
      if (graph().value(node.outputs[0]).type.dtype != DType::f32) return node_text(node) + " joins integers";
      if (node.annotations.find(kKernel)) return node_text(node) + " has a kernel chosen for rows of single branches";
      std::vector<int32_t> joined;
      for (const size_t i : own_inputs(node)) joined.push_back(branch_of(node.inputs[i]));
      if (joined.size() < plain_inputs(node))
        if (std::string why = check_others(node, joined); !why.empty()) return why;
      std::sort(joined.begin(), joined.end());
      if (std::adjacent_find(joined.begin(), joined.end()) != joined.end()) return node_text(node) + " joins a branch twice";
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
  int32_t branch_of(ValueId v) const { return graph().space(graph().value(v).type.space).branch; }

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
    for (size_t i = 0; i < x.inputs.size(); ++i) {
      const Value &in_x = graph().value(x.inputs[i]), &in_y = graph().value(y.inputs[i]);
      if (in_x.kind == ValueKind::weight && in_y.kind == ValueKind::weight) {
        if (in_x.type != in_y.type)
          return here + " has " + node_text(y) + " with weights " + type_text(graph(), in_y.type) + ", " + there + " " +
                 type_text(graph(), in_x.type);
        if (format_in_products(in_x) != format_in_products(in_y))
          return here + " has " + node_text(y) + " with weights held in " + std::string(to_text(format_in_products(in_y))) + ", " + there +
                 " in " + std::string(to_text(format_in_products(in_x)));
        // Only a product has weights for each branch, and biases.
        const bool own = product && (i == 1 || i == own_bias(y));
        if (!own && x.inputs[i] != y.inputs[i]) return here + " has weights of its own in " + node_text(y);
      } else if (const auto at = same.find(x.inputs[i]); at == same.end() || at->second != y.inputs[i]) {
        return here + " has " + node_text(y) + " with other inputs than " + there;
      }
    }
    if (product && &x == &y) ++products_;
    return {};
  }

  /// Value of all slots that stands for a value of the first branch.
  ValueId over_slots(ValueId v) {
    if (const auto at = merged_.find(v); at != merged_.end()) return at->second;
    const auto flow = flow_of_.find(v);
    if (flow == flow_of_.end()) return v;  // a weight that all branches share
    if (const auto at = scattered_.find(flow->second.first); at != scattered_.end()) return at->second;
    const NodeId scatter = rewriter_.make_node("scatter", {flow->second.first, decision_}, {{"spaces", std::vector{int64_t{slots_}}}},
                                               router_name(graph(), decision_) + ".slots");
    made_.push_back(scatter);
    return scattered_[flow->second.first] = graph().node(scatter).outputs[0];
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

  /// Rows, decision, the weights of all branches, their biases, what else the product takes.
  std::vector<ValueId> grouped_inputs(const Node& model) {
    const auto flow = flow_of_.find(model.inputs[0]);
    std::vector<ValueId> inputs{flow == flow_of_.end() ? over_slots(model.inputs[0]) : flow->second.first, decision_};
    const std::optional<size_t> bias = own_bias(model);
    for (const int32_t b : present_) inputs.push_back(same_node(model, b).inputs[1]);
    if (bias)
      for (const int32_t b : present_) inputs.push_back(same_node(model, b).inputs[*bias]);
    for (size_t i = 2; i < model.inputs.size(); ++i)
      if (i != bias) inputs.push_back(over_slots(model.inputs[i]));
    return inputs;
  }
  Attributes grouped_attributes(const Node& model) const {
    const Operator& grouped = *find_operator(model.op->grouped_as);
    Node carries = model;
    if (own_bias(model)) {
      remove_extra(carries, kOwnExtra);
      carries.attributes.set(kOwnExtras, int64_t{1});
    }
    for (const auto& [name, value] : model.attributes)
      if (!knows(grouped, name)) carries.attributes.erase(name);  // 0, as not_grouped() found
    carries.attributes.set("branches", std::vector<int64_t>(present_.begin(), present_.end()));
    carries.attributes.set("slots", int64_t{slots_});
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
    // A cell has one row at most, but of each router.
    if (alone && node.attributes.word("mode") == "place") node.attributes.set("mode", std::string("sum"));
    if (static_cast<int32_t>(present_.size()) < graph().value(decision_).branches)
      node.attributes.set("branches", std::vector<int64_t>(present_.begin(), present_.end()));
    made_.push_back(id);
  }

  Rewriter& rewriter_;
  const Region& region_;
  ValueId decision_;
  std::map<NodeId, std::map<int32_t, ValueId>> flows_;      // scatter -> branch -> what it gives there
  std::map<ValueId, std::pair<ValueId, int32_t>> flow_of_;  // scattered value -> what was scattered, to which branch
  std::map<int32_t, std::vector<NodeId>> chains_;
  std::vector<int32_t> present_;      // branches that the gathers join
  std::map<int32_t, ValueMap> same_;  // values of the first branch -> of this one
  size_t products_ = 0;
  SpaceId slots_ = kNone;
  ValueMap merged_, scattered_;
  std::vector<NodeId> made_;
};

}  // namespace

PassResult horizontal_fusion(const PassInput& input) {
  Rewriter rewriter(input.graph);
  Refusals refusals;
  std::set<std::string> fused;
  size_t routers = 0, products = 0, grouped = 0, scatters = 0;
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
        grouped += fusion.products();
        products += fusion.products() * fusion.branches();
        scatters += fusion.scatters_before() - std::min(fusion.scatters_before(), fusion.scatters_after());
      }
    }
  PassResult result;
  result.applied = !fused.empty();
  result.graph = result.applied ? rewriter.finish() : input.graph;
  if (result.applied) {
    result.reason =
        with_refusals(counted(static_cast<int64_t>(fused.size()), "router") + ": " + counted(static_cast<int64_t>(products), "product") +
                          " became " + std::to_string(grouped) + " grouped; " + counted(static_cast<int64_t>(scatters), "scatter") +
                          " removed" + (has_guards(input.graph) ? " (fallbacks included)" : ""),
                      refusals);
  } else {
    result.reason = routers == 0 ? "the graph has no router whose branches are joined" : with_refusals({}, refusals);
  }
  return result;
}

}  // namespace stormcell
