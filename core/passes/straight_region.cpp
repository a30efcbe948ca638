// The cells of a branch that gets all cells are the cells of its decision, in their order, and members of those (the
// tokens of routed sequences) all that there are: rows are not sent, a node of the branch is made again over all of
// them, a router too, and a gather reads them as rows of its own cells. The factors of a weighted gather, and what
// choice_weight told of the branch's cells, are those of all cells. A router that is made again is known by the names
// it had: it says from which branches its cells would have come (attribute within).
#include "core/passes/straight_region.h"

#include <algorithm>

#include "core/graph/roles.h"
#include "core/graph/within.h"

namespace stormcell {
namespace {

/// The decision that alone sends rows into these cells, straight from the gather's own: its rows are joined in the
/// order in which they were chosen; kNone: in the order in which they are listed.
struct Origin {
  ValueId decision = kNone;
  SpaceId from = kNone;
};
bool in_listed_order(const std::vector<Origin>& joined, SpaceId target) {
  return std::any_of(joined.begin(), joined.end(), [&](const Origin& o) {
    return o.decision == kNone || o.from != target || o.decision != joined.front().decision;
  });
}

}  // namespace

/// The decision in one of whose branches a space lies; kNone: it lies in none. No decision is made in another's branch.
ValueId StraightRegion::decision_over(SpaceId space) const {
  for (const auto& [decision, branches] : taken_)
    if (branch_within(graph(), space, decision)) return decision;
  return kNone;
}
ValueId StraightRegion::decision_over(NodeId id) const {
  for (const ValueId v : graph().node(id).outputs)
    if (const ValueId over = decision_over(graph().value(v).type.space); over != kNone) return over;
  return kNone;
}

/// The routed cells whose members a space holds; else the space itself.
SpaceId StraightRegion::routed_cells(SpaceId space) const {
  return space != kNone && graph().holds_members(space) ? graph().space(space).parent : space;
}
/// Whether its cells are sent by one of the decisions, or are members of such cells.
bool StraightRegion::is_sent(SpaceId space) const {
  const SpaceId routed = routed_cells(space);
  return routed != kNone && graph().space(routed).kind == SpaceKind::routed &&
         taken_.contains(graph().space(routed).decision);
}
bool StraightRegion::is_dead(SpaceId space) const {
  const ValueId decision = decision_over(space);
  return decision != kNone && !taken_.at(decision).contains(*branch_within(graph(), space, decision));
}
/// Whether a node works only for branches that get no cell.
bool StraightRegion::is_dead(NodeId id) const {
  return std::any_of(taken_.begin(), taken_.end(), [&](const auto& taken) {
    const std::vector<int32_t> branches = branches_of_node(graph(), taken.first, id);
    return !branches.empty() &&
           std::none_of(branches.begin(), branches.end(), [&](int32_t b) { return taken.second.contains(b); });
  });
}

ValueId StraightRegion::sends_by(const Node& node) const { return stormcell::sends_by(graph(), node); }

/// The decision of which a node reads the weights of choices and nothing else; kNone: it does not.
ValueId StraightRegion::weighed_by(const Node& node) const {
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (taken_.contains(node.inputs[i]) && node.op->flow && node.op->flow(graph(), node, i).weights &&
        node.inputs.size() == 1)
      return node.inputs[i];
  return kNone;
}

/// It joins rows of the decisions' branches in cells outside of them.
bool StraightRegion::joins(NodeId id) const {
  if (std::find(region_.gathers.begin(), region_.gathers.end(), id) != region_.gathers.end()) return true;
  const Node& node = graph().node(id);
  if (!has_role(node, Role::close) || decision_over(id) != kNone) return false;
  const auto end = node.inputs.begin() + plain_inputs(node);
  return std::any_of(node.inputs.begin(), end,
                     [&](ValueId v) { return decision_over(graph().value(v).type.space) != kNone; });
}

std::optional<StraightRegion::Obstacle> StraightRegion::obstacle() const {
  if (!region_.obstacle.empty()) return Obstacle{kNone, region_.obstacle};
  for (const NodeId id : region_.nodes) {
    const Node& node = graph().node(id);
    if (joins(id)) {
      if (auto why = obstacle_of_gather(node)) return Obstacle{why->decision, node_text(node) + " " + why->why};
      continue;
    }
    const std::string why = obstacle_of(id);
    if (why.empty()) continue;
    const ValueId sent_by = sends_by(node), over = decision_over(id);
    ValueId asked = kNone;
    for (const ValueId v : node.inputs)
      if (taken_.contains(v)) asked = v;
    return Obstacle{over != kNone ? over : taken_.contains(sent_by) ? sent_by : asked, node_text(node) + " " + why};
  }
  return {};
}

std::string StraightRegion::obstacle_of(NodeId id) const {
  const Node& node = graph().node(id);
  if (!node.bodies.empty()) return "holds a region";
  const ValueId over = decision_over(id);
  const auto in_branch = [&](ValueId v) { return decision_over(graph().value(v).type.space) != kNone; };
  if (over == kNone && std::any_of(node.inputs.begin(), node.inputs.end(), in_branch))
    return "takes rows out of a branch";
  if (!sends(node) && is_dead(id)) return {};
  for (const ValueId v : node.outputs)
    for (SpaceId s = graph().value(v).type.space; over != kNone && s != kNone; s = graph().space(s).parent) {
      const CellSpace& space = graph().space(s);
      if (is_sent(s)) {
        if (graph().space(routed_cells(s)).branch == kAllBranches) return "works on slots already";
        if (is_route(node) && graph().holds_members(s)) return "decides about members of what is routed";
        break;
      }
      if (space.kind != SpaceKind::routed) return "works on cells below those that are routed";
    }
  if (sends(node)) return has_role(node, Role::open) ? std::string() : "works on slots already";
  if (is_route(node) && over != kNone && router_name(graph(), over).find(' ') != std::string::npos)
    return "decides within a router whose name has blanks";
  if (weighed_by(node) != kNone) return {};
  if (std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return taken_.contains(v); }))
    return "asks for more than where cells go";
  for (size_t i = 0; over != kNone && i < node.inputs.size(); ++i)
    if (const Mix mix = node.op->flow ? node.op->flow(graph(), node, i).mix : Mix::batch;
        mix != Mix::cell && mix != Mix::none)
      return "works on several cells at once";
  return {};
}

std::optional<StraightRegion::Obstacle> StraightRegion::obstacle_of_gather(const Node& gather) const {
  const SpaceId target(gather.attributes.integer("space"));
  const std::string& mode = gather.attributes.word("mode");
  std::vector<Origin> before, after;
  const auto origin_of = [&](SpaceId s) {
    const bool routed = s != target && graph().space(s).kind == SpaceKind::routed;
    return routed ? Origin{graph().space(s).decision, graph().space(s).parent} : Origin{};
  };
  ValueId ours = kNone;
  size_t weighed = 0;
  for (size_t i = 0; i < plain_inputs(gather); ++i) {
    const SpaceId s = graph().value(gather.inputs[i]).type.space;
    const ValueId over = decision_over(s);
    if (over != kNone) ours = over;
    if (over != kNone && branch_within(graph(), s, over) == kAllBranches)
      return Obstacle{over, "works on slots already"};
    const CellSpace& space = graph().space(s);
    const bool routed = space.kind == SpaceKind::routed && s != target;
    before.push_back(origin_of(s));
    if (is_dead(s)) continue;
    if (mode == "weighted" && is_sent(s) && graph().holds_members(s))
      return Obstacle{over, "weighs members by what their parents chose"};
    weighed += mode == "weighted" && is_sent(s);
    if (is_sent(s)) {
      after.push_back(origin_of(straight(s)));
    } else {
      after.push_back(
          routed ? Origin{space.decision, is_sent(space.parent) ? graph().space(space.parent).parent : space.parent}
                 : Origin{});
    }
  }
  if (weighed > 0 && weighed < after.size()) return Obstacle{ours, "weighs rows of several routers"};
  if (mode == "weighted" && weighed == 0 && after.size() < before.size() && extra_input(gather, "otherwise"))
    return Obstacle{ours, "weighs what capacity left out"};
  const bool zeros = after.empty() && (mode == "weighted" || !extra_input(gather, "otherwise"));
  if (zeros && graph().value(gather.outputs[0]).type.dtype != DType::f32)
    return Obstacle{ours, "would have no row to join"};
  if (mode != "place" && after.size() > 2 && in_listed_order(before, target) != in_listed_order(after, target))
    return Obstacle{ours, "would sum rows in another order"};
  return {};
}

std::set<ValueId> StraightRegion::weighed() const {
  std::set<ValueId> decisions;
  for (const NodeId id : region_.nodes) {
    const Node& node = graph().node(id);
    if (const ValueId by = weighed_by(node); by != kNone && !is_dead(id)) decisions.insert(by);
    if (!joins(id) || node.attributes.word("mode") != "weighted") continue;
    for (size_t i = 0; i < plain_inputs(node); ++i)
      if (const SpaceId s = graph().value(node.inputs[i]).type.space; is_sent(s) && !is_dead(s))
        decisions.insert(graph().space(s).decision);
  }
  return decisions;
}

std::set<std::string_view> StraightRegion::operators_of_make() const {
  std::set<std::string_view> operators;
  for (const NodeId id : region_.nodes) {
    if (!joins(id)) continue;
    const Node& node = graph().node(id);
    const bool weighted = node.attributes.word("mode") == "weighted";
    bool has_row = !weighted && extra_input(node, "otherwise");
    for (size_t i = 0; i < plain_inputs(node); ++i) {
      const SpaceId s = graph().value(node.inputs[i]).type.space;
      if (is_dead(s)) continue;
      has_row = true;
      if (weighted && is_sent(s)) operators.insert({"choice_weight", "multiply"});
    }
    if (!has_row) operators.insert("zeros");
  }
  return operators;
}

std::set<std::string_view> StraightRegion::operators_of_holds() const {
  std::set<std::string_view> operators{"branches_full"};
  size_t flags = 0;
  for (const auto& [decision, taken] : taken_) {
    if (asks_for_none(decision)) operators.insert("branches_empty");
    flags += (taken.empty() ? 0u : 1u) + (asks_for_none(decision) ? 1u : 0u);
  }
  if (flags != 1) operators.insert("all_set");
  return operators;
}

/// Whether holds() must ask the branches that get no cell, too. If the taken branches are as many as a cell's choices,
/// the others cannot get any.
bool StraightRegion::asks_for_none(ValueId decision) const {
  const int32_t taken = taken_.at(decision).size();
  return taken < graph().value(decision).fan_out && taken < graph().value(decision).branches;
}

/// The space in which a copy of a value of `space` lives.
SpaceId StraightRegion::straight(SpaceId space) const {
  // All members of all cells are the cells that they are members of, in their order.
  if (is_sent(space)) return graph().holds_members(space) ? graph().space(space).base : graph().space(space).parent;
  return rewriter_.space_of_copies(space, copies_);
}

ValueId StraightRegion::copy_of(ValueId v) const {
  const auto at = copies_.find(v);
  return at == copies_.end() ? v : at->second;
}

Rewriter::Body StraightRegion::make(ValueMap decided) {
  decided_ = std::move(decided);
  Rewriter::Body body;
  for (const NodeId id : region_.nodes) {
    if (joins(id)) {
      join(id, body);
    } else if (sends(graph().node(id))) {
      skip_sending(id);
    } else if (is_dead(id)) {
      continue;
    } else if (weighed_by(graph().node(id)) != kNone) {
      body.nodes.push_back(make_weight(id));
    } else if (decision_over(id) != kNone) {
      body.nodes.push_back(make_again(id));
    } else {
      body.nodes.push_back(rewriter_.clone(id, copies_));
    }
  }
  for (const NodeId id : region_.gathers) body.yields.push_back(copies_.at(graph().node(id).outputs[0]));
  return body;
}

void StraightRegion::skip_sending(NodeId id) {
  const Node& node = graph().node(id);
  for (const ValueId sent : node.outputs)
    if (!is_dead(graph().value(sent).type.space)) copies_[sent] = copy_of(node.inputs[0]);
}

NodeId StraightRegion::make_again(NodeId id) {
  Node node = graph().node(id);
  for (ValueId& v : node.inputs) v = copy_of(v);
  map_spaces(node, [&](SpaceId s) { return straight(s); });
  if (is_route(node)) {
    const SpaceId space = graph().value(node.outputs[0]).type.space;
    if (is_sent(space)) add_within(graph(), space, node);
  }
  const std::vector<ValueId> before = node.outputs;
  const NodeId made = rewriter_.make_node(node.op->name, std::move(node.inputs), std::move(node.attributes), node.name);
  rewriter_.take_annotations(made, id);
  for (size_t i = 0; i < before.size(); ++i) copies_[before[i]] = graph().node(made).outputs[i];
  return made;
}

namespace {
Attributes weight_of_all(SpaceId cells, int32_t branch) {
  return {{"space", int64_t{cells}}, {"branch", int64_t{branch}}};
}
}  // namespace

/// The weights of a branch's cells, for all cells.
NodeId StraightRegion::make_weight(NodeId id) {
  const Node node = graph().node(id);
  const CellSpace& sent_to = graph().space(graph().value(node.outputs[0]).type.space);
  const auto at = decided_.find(sent_to.decision);
  const ValueId decision = at == decided_.end() ? sent_to.decision : at->second;
  const NodeId made =
      rewriter_.make_node(node.op->name, {decision}, weight_of_all(sent_to.parent, sent_to.branch), node.name);
  rewriter_.take_annotations(made, id);
  copies_[node.outputs[0]] = graph().node(made).outputs[0];
  return made;
}

/// A gather joins the rows that are left; one that has nothing else to do than to hand on all rows of its own cells
/// goes.
void StraightRegion::join(NodeId id, Rewriter::Body& body) {
  Node node = graph().node(id);
  const SpaceId target(node.attributes.integer("space"));
  const size_t plain = plain_inputs(node);
  bool covers = false;  // a row for each cell
  std::vector<ValueId> inputs;
  const bool weighted = node.attributes.word("mode") == "weighted";
  for (size_t i = 0; i < plain; ++i) {
    const SpaceId s = graph().value(node.inputs[i]).type.space;
    if (is_dead(s)) continue;
    ValueId row = copy_of(node.inputs[i]);
    if (weighted && is_sent(s)) {
      row = weigh(row, s, node.name, body);
      node.attributes.set("mode", std::string("sum"));
    }
    inputs.push_back(row);
    covers = covers || graph().value(row).type.space == target;
  }
  if (const auto otherwise = extra_input(node, "otherwise"); inputs.empty() && otherwise && !weighted) {
    inputs.push_back(copy_of(node.inputs[*otherwise]));
    covers = true;
  } else if (inputs.empty()) {
    std::vector<int64_t> shape;
    for (const Dim& d : graph().value(node.outputs[0]).type.content) shape.push_back(d.constant());
    body.nodes.push_back(
        rewriter_.make_node("zeros", {}, {{"space", int64_t{target}}, {"shape", std::move(shape)}}, node.name));
    inputs.push_back(graph().node(body.nodes.back()).outputs[0]);
    node.attributes.set("mode", std::string("sum"));
    covers = true;
  }
  for (size_t i = plain; i < node.inputs.size(); ++i)
    if (!covers || extra_name(graph().node(id), i - plain) != "otherwise") inputs.push_back(copy_of(node.inputs[i]));
  if (covers) remove_extra(node, "otherwise");
  const ValueId joined = node.outputs[0];
  if (covers && inputs.size() == 1 && node.annotations.empty() && graph().value(joined).annotations.empty()) {
    copies_[joined] = inputs[0];
    return;
  }
  const NodeId made = rewriter_.make_node(node.op->name, std::move(inputs), std::move(node.attributes), node.name);
  rewriter_.take_annotations(made, id);
  copies_[joined] = graph().node(made).outputs[0];
  body.nodes.push_back(made);
}

/// The row of each cell times the weight of the choice that would have sent it to the branch `sent_to`.
ValueId StraightRegion::weigh(ValueId row, SpaceId sent_to, const std::string& name, Rewriter::Body& body) {
  const CellSpace space = graph().space(sent_to);
  const auto at = decided_.find(space.decision);
  const std::string branch = name + "." + std::to_string(space.branch);
  body.nodes.push_back(rewriter_.make_node("choice_weight", {at == decided_.end() ? space.decision : at->second},
                                           weight_of_all(space.parent, space.branch), branch + ".weight"));
  const ValueId weight = graph().node(body.nodes.back()).outputs[0];
  body.nodes.push_back(rewriter_.make_node("multiply", {row, weight}, {}, branch + ".weighed"));
  return graph().node(body.nodes.back()).outputs[0];
}

ValueId StraightRegion::holds(const ValueMap& decided, std::vector<NodeId>& nodes) const {
  std::vector<ValueId> flags;
  const auto ask = [&](std::string_view op, ValueId decision, std::vector<int64_t> branches, const std::string& name) {
    if (branches.empty()) return;
    const auto at = decided.find(decision);
    nodes.push_back(rewriter_.make_node(op, {at == decided.end() ? decision : at->second},
                                        {{"branches", std::move(branches)}}, name));
    flags.push_back(graph().node(nodes.back()).outputs[0]);
  };
  for (const auto& [decision, taken] : taken_) {
    const std::string router = router_name(graph(), decision);
    std::vector<int64_t> empty;
    const int32_t branches = graph().value(decision).branches;
    if (asks_for_none(decision))
      for (int32_t b = 0; b < branches; ++b)
        if (!taken.contains(b)) empty.push_back(b);
    ask("branches_full", decision, {taken.begin(), taken.end()}, router + ".all");
    ask("branches_empty", decision, std::move(empty), router + ".none");
  }
  if (flags.size() == 1) return flags[0];
  nodes.push_back(rewriter_.make_node("all_set", std::move(flags), {}, "constant"));
  return graph().node(nodes.back()).outputs[0];
}

}  // namespace stormcell
