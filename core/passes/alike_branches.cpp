#include "core/passes/alike_branches.h"

#include <algorithm>

#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "core/graph/spaces.h"
#include "core/passes/grouped_form.h"

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

/// The difference between the annotations of two nodes that are to become one, or of what they make; empty: none. A
/// kernel is chosen for one operator, and says nothing of another.
std::string unlike_annotations(const Graph& graph, const Node& x, const Node& y) {
  for (const Node* node : {&x, &y})
    if (has_grouped_form(*node) && node->annotations.find(kKernel))
      return node_text(*node) + " has a kernel that was chosen only for it";
  const auto apart = [](const Annotations& a, const Annotations& b, const std::string& what) {
    const auto said = [](const Annotations& annotations) {
      return annotations.empty() ? " nothing" : to_text(annotations);
    };
    return a == b ? std::string() : "of " + what + " is said" + said(b) + ", of the first branch's" + said(a);
  };
  if (std::string why = apart(x.annotations, y.annotations, node_text(y)); !why.empty()) return why;
  const Value& made = graph.value(y.outputs[0]);
  return apart(graph.value(x.outputs[0]).annotations, made.annotations, "%" + made.name);
}

}  // namespace

std::string AlikeBranches::compare() {
  if (!region_.obstacle.empty()) return region_.obstacle;
  std::string why = sort_nodes();
  if (why.empty()) why = check_gathers();
  for (size_t i = 0; why.empty() && i < present_.size(); ++i) why = match(present_[i]);
  if (why.empty() && grouped_.empty()) why = "its branches hold no product";
  return why;
}

const AlikeBranches::Sent* AlikeBranches::sent_as(ValueId value) const {
  const auto at = flow_of_.find(value);
  return at == flow_of_.end() ? nullptr : &at->second;
}

std::vector<size_t> AlikeBranches::own_inputs(const Node& gather) const {
  std::vector<size_t> own;
  for (size_t i = 0; i < plain_inputs(gather); ++i)
    if (branch_within(graph_, graph_.value(gather.inputs[i]).type.space, decision_)) own.push_back(i);
  return own;
}

/// The routed space of the decision that cells are of, or whose members they are; kNone: neither.
SpaceId AlikeBranches::slots_of(SpaceId cells) const {
  const SpaceId slots = graph_.holds_members(cells) ? graph_.space(cells).parent : cells;
  return graph_.space(slots).decision == decision_ ? slots : kNone;
}

std::string AlikeBranches::sort_nodes() {
  for (const NodeId id : region_.nodes) {
    const Node& node = graph_.node(id);
    if (std::find(region_.gathers.begin(), region_.gathers.end(), id) != region_.gathers.end()) continue;
    if (has_role(node, Role::open) && sends_by(graph_, node) == decision_) {
      if (std::string why = note_sent(id); !why.empty()) return why;
      continue;
    }
    const SpaceId space = node.outputs.size() == 1 ? graph_.value(node.outputs[0]).type.space : kNone;
    const SpaceId slots = space == kNone ? kNone : slots_of(space);
    if (slots == kNone || is_route(node)) {
      const std::vector<int32_t> in = branches_of_node(graph_, decision_, id);
      return (in.empty() ? "it" : "branch " + std::to_string(in[0])) + " holds " + node_text(node);
    }
    if (graph_.space(slots).branch == kAllBranches) return "it works on slots already";
    chains_[graph_.space(slots).branch].push_back(id);
  }
  return {};
}

std::string AlikeBranches::note_sent(NodeId id) {
  const Node& node = graph_.node(id);
  const ValueId members = graph_.holds_members(graph_.value(node.outputs[0]).type.space) ? node.inputs[1] : kNone;
  const std::vector<int32_t> sent = branches_sent(graph_, node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (sent[i] == kAllBranches) return "it works on slots already";
    if (!graph_.value(node.outputs[i]).annotations.empty())
      return "rows that " + node_text(node) + " sends have a format of their own, and would not be sent";
    flow_of_[node.outputs[i]] = {node.inputs[0], members};
    flows_[id][sent[i]] = node.outputs[i];
  }
  return {};
}

std::string AlikeBranches::check_gathers() {
  const Value& decision = graph_.value(decision_);
  for (const NodeId id : region_.gathers) {
    const Node& node = graph_.node(id);
    const bool place = node.attributes.word("mode") == "place";
    if (place && decision.fan_out > 1) return node_text(node) + " places rows, of which a cell may have several";
    if (graph_.value(node.outputs[0]).type.dtype != DType::f32) return node_text(node) + " joins integers";
    if (node.annotations.find(kKernel)) return node_text(node) + " has a kernel chosen for rows of single branches";
    std::vector<int32_t> joined;
    bool members = false;
    for (const size_t i : own_inputs(node)) {
      const SpaceId from = graph_.value(node.inputs[i]).type.space;
      if (graph_.origin(from) != SpaceId(node.attributes.integer("space")))
        return node_text(node) + " joins in a space further up";
      members = members || graph_.holds_members(from);
      joined.push_back(branch_of(node.inputs[i]));
    }
    if (joined.size() < plain_inputs(node))
      if (std::string why = check_others(node, joined); !why.empty()) return why;
    // Rows of members are summed branch after branch, those of slots by the order of choices.
    if (members && decision.fan_out > 1 && !std::is_sorted(joined.begin(), joined.end()))
      return node_text(node) + " sums members of its branches in another order than theirs";
    std::sort(joined.begin(), joined.end());
    if (std::adjacent_find(joined.begin(), joined.end()) != joined.end())
      return node_text(node) + " joins a branch twice";
    if (members && place && static_cast<int32_t>(joined.size()) < decision.branches)
      return node_text(node) + " places members of some of its branches";
    if (present_.empty()) present_ = joined;
    if (present_ != joined) return "its gathers join different branches";
  }
  for (const auto& [branch, nodes] : chains_)
    if (!std::binary_search(present_.begin(), present_.end(), branch))
      return "branch " + std::to_string(branch) + " leads nowhere";
  return {};
}

/// Checks a gather that also joins rows of other routers: slots may replace its branches only if every slot is
/// computed, in the order in which they are summed.
std::string AlikeBranches::check_others(const Node& gather, const std::vector<int32_t>& joined) const {
  const std::vector<size_t> own = own_inputs(gather);
  if (own.empty()) return node_text(gather) + " joins none of its branches";
  if (own.back() - own.front() + 1 != own.size() || !std::is_sorted(joined.begin(), joined.end()))
    return node_text(gather) + " joins rows of other routers between those of its branches";
  if (joined.size() != static_cast<size_t>(graph_.value(decision_).branches))
    return node_text(gather) + " joins rows of other routers beside some of its branches";
  return {};
}

/// Compares a branch with the first one, node by node, and notes what corresponds to what.
std::string AlikeBranches::match(int32_t branch) {
  const int32_t model = present_[0];
  const std::vector<NodeId>&a = chains_[model], &b = chains_[branch];
  const std::string here = "branch " + std::to_string(branch), there = "branch " + std::to_string(model);
  ValueMap& same = same_[branch];
  for (const auto& [scatter, parts] : flows_)
    if (parts.contains(model) && parts.contains(branch)) same[parts.at(model)] = parts.at(branch);
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= b.size()) return here + " has no " + node_text(graph_.node(a[i])) + " as " + there + " has";
    if (i >= a.size()) return here + " has one more, " + node_text(graph_.node(b[i])) + ", than " + there;
    const Node &x = graph_.node(a[i]), &y = graph_.node(b[i]);
    if (x.op != y.op) return here + " has " + node_text(y) + " where " + there + " has " + node_text(x);
    if (const std::string key = unlike_attribute(x, y); !key.empty())
      return here + " has " + node_text(y) + " with " + key + " " + attribute_text(y, key) + ", " + there + " " +
             attribute_text(x, key);
    if (const std::string why = unlike_annotations(graph_, x, y); !why.empty()) return here + ": " + why;
    if (std::string why = match_inputs(x, y, same, here, there); !why.empty()) return why;
    same[x.outputs[0]] = y.outputs[0];
  }
  return match_gathers(branch);
}

std::string AlikeBranches::match_inputs(const Node& x, const Node& y, const ValueMap& same, const std::string& here,
                                        const std::string& there) {
  if (!has_role(x, Role::pointwise)) return here + " holds " + node_text(y);
  if (has_grouped_form(x))
    if (const std::string word = not_grouped(y); !word.empty())
      return here + " has " + word + " in " + node_text(y) + ", which grouped products do not take";
  if (x.inputs.size() != y.inputs.size()) return here + " has " + node_text(y) + " with other inputs than " + there;
  const std::vector<size_t> own = own_weights(y);
  for (size_t i = 0; i < x.inputs.size(); ++i) {
    const Value &in_x = graph_.value(x.inputs[i]), &in_y = graph_.value(y.inputs[i]);
    if (in_x.kind == ValueKind::weight && in_y.kind == ValueKind::weight) {
      if (std::string why = unlike_weights(in_x, in_y, node_text(y), there); !why.empty()) return here + " has " + why;
      if (x.inputs[i] != y.inputs[i] && std::find(own.begin(), own.end(), i) == own.end())
        return here + " has weights of its own in " + node_text(y);
    } else if (const auto at = same.find(x.inputs[i]); at == same.end() || at->second != y.inputs[i]) {
      return here + " has " + node_text(y) + " with other inputs than " + there;
    }
  }
  if (has_grouped_form(x) && &x == &y) ++grouped_[x.op->name];
  return {};
}

/// The difference between two weights that one grouped node is to read: "NODE with weights held in bf16, branch 0 in
/// f32"; empty: none.
std::string AlikeBranches::unlike_weights(const Value& x, const Value& y, const std::string& node,
                                          const std::string& there) const {
  if (x.type != y.type)
    return node + " with weights " + type_text(graph_, y.type) + ", " + there + " " + type_text(graph_, x.type);
  if (format_in_products(x) != format_in_products(y))
    return node + " with weights held in " + std::string(to_text(format_in_products(y))) + ", " + there + " in " +
           std::string(to_text(format_in_products(x)));
  return {};
}

/// Checks that gathers join the same part of each branch.
std::string AlikeBranches::match_gathers(int32_t branch) const {
  for (const NodeId id : region_.gathers) {
    const Node& node = graph_.node(id);
    ValueId of_model = kNone, of_branch = kNone;
    for (const size_t i : own_inputs(node)) {
      const int32_t from = branch_of(node.inputs[i]);
      if (from == present_[0]) of_model = node.inputs[i];
      if (from == branch) of_branch = node.inputs[i];
    }
    if (const auto at = same_.at(branch).find(of_model); at == same_.at(branch).end() || at->second != of_branch)
      return node_text(node) + " joins another part of branch " + std::to_string(branch) + " than of branch " +
             std::to_string(present_[0]);
  }
  return {};
}

}  // namespace stormcell
