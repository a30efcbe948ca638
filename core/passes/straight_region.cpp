// The cells of a branch that gets all cells are the cells of its decision, in their order: rows are not sent, a node of the branch is made
// again over all of them, and a gather reads them as rows of its own cells. A router within such a branch would be
// known by another way there (judges and records name a cell by the routers above), so that it is an obstacle; one in a branch that gets
// no cell is not.
#include "core/passes/straight_region.h"

#include <algorithm>

#include "core/graph/roles.h"

namespace stormcell {

bool StraightRegion::is_gather(NodeId id) const {
  return std::find(region_.gathers.begin(), region_.gathers.end(), id) != region_.gathers.end();
}

bool StraightRegion::is_dead(SpaceId space) const {
  const std::optional<int32_t> branch = branch_within(graph(), space, decision_);
  return branch && !taken_.contains(*branch);
}

/// It works for branches alone that get no cell.
bool StraightRegion::is_dead(NodeId id) const {
  const std::vector<int32_t> branches = branches_of_node(graph(), decision_, id);
  return !branches.empty() && std::none_of(branches.begin(), branches.end(), [&](int32_t b) { return taken_.contains(b); });
}

std::string StraightRegion::obstacle() const {
  if (!region_.obstacle.empty()) return region_.obstacle;
  for (const NodeId id : region_.nodes) {
    const Node& node = graph().node(id);
    const std::string why = is_gather(id) ? obstacle_of_gather(node) : obstacle_of(id);
    if (!why.empty()) return node_text(node) + " " + why;
  }
  return {};
}

std::string StraightRegion::obstacle_of(NodeId id) const {
  const Node& node = graph().node(id);
  const bool sends = sends_by(graph(), node) == decision_;
  if (!sends && is_dead(id)) return {};
  for (const ValueId v : node.outputs)
    for (SpaceId s = graph().value(v).type.space; s != kNone; s = graph().space(s).parent) {
      const CellSpace& space = graph().space(s);
      if (space.kind == SpaceKind::routed && space.decision == decision_) {
        if (space.branch == kAllBranches) return "works on slots already";
        break;
      }
      if (space.kind != SpaceKind::routed) return "works on cells below those that are routed";
    }
  if (sends) return has_role(node, Role::open) ? std::string() : "works on slots already";
  if (!node.bodies.empty()) return "holds a region";
  if (std::find(node.inputs.begin(), node.inputs.end(), decision_) != node.inputs.end()) return "asks for more than where cells go";
  if (is_route(node)) return "decides within a branch that got all cells";
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (const Mix mix = node.op->flow ? node.op->flow(graph(), node, i).mix : Mix::batch; mix != Mix::cell && mix != Mix::none)
      return "works on several cells at once";
  return {};
}

/// Rows of these spaces are joined in the order in which they are listed: they are not all direct branches of one decision, whose rows are
/// joined in the order in which they were chosen.
bool StraightRegion::in_listed_order(const std::vector<SpaceId>& joined, SpaceId target) const {
  ValueId decision = kNone;
  for (const SpaceId s : joined) {
    if (s == target || graph().space(s).kind != SpaceKind::routed || graph().space(s).parent != target) return true;
    if (decision != kNone && graph().space(s).decision != decision) return true;
    decision = graph().space(s).decision;
  }
  return false;
}

std::string StraightRegion::obstacle_of_gather(const Node& gather) const {
  const SpaceId target(gather.attributes.integer("space"));
  std::vector<SpaceId> before, after;
  bool joins_taken = false, joins_own = false;
  for (size_t i = 0; i < plain_inputs(gather); ++i) {
    const SpaceId s = graph().value(gather.inputs[i]).type.space;
    const std::optional<int32_t> branch = branch_within(graph(), s, decision_);
    if (branch == kAllBranches) return "works on slots already";
    before.push_back(s);
    joins_own = joins_own || branch;
    if (is_dead(s)) continue;
    joins_taken = joins_taken || branch;
    const bool direct = graph().space(s).kind == SpaceKind::routed && graph().space(s).decision == decision_;
    if (direct && gather.attributes.word("mode") == "weighted") return "weighs rows by the decision";
    after.push_back(direct ? straight(s) : s);
  }
  if (after.empty() || (joins_own && !joins_taken)) return "would have no row to join";
  if (gather.attributes.word("mode") == "sum" && after.size() > 2 && in_listed_order(before, target) != in_listed_order(after, target))
    return "would sum rows in another order";
  return {};
}

/// The space in which a copy of a value of `space` lives.
SpaceId StraightRegion::straight(SpaceId space) const {
  const bool sent = space != kNone && graph().space(space).kind == SpaceKind::routed && graph().space(space).decision == decision_;
  return sent ? graph().space(space).parent : space;
}

ValueId StraightRegion::copy_of(ValueId v) const {
  const auto at = copies_.find(v);
  return at == copies_.end() ? v : at->second;
}

Rewriter::Body StraightRegion::make() {
  Rewriter::Body body;
  for (const NodeId id : region_.nodes) {
    if (is_gather(id)) {
      join(id, body);
    } else if (sends_by(graph(), graph().node(id)) == decision_) {
      skip_sending(id);
    } else if (!is_dead(id)) {
      body.nodes.push_back(make_again(id));
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
  const std::vector<ValueId> before = node.outputs;
  const NodeId made = rewriter_.make_node(node.op->name, std::move(node.inputs), std::move(node.attributes), node.name);
  rewriter_.take_annotations(made, id);
  for (size_t i = 0; i < before.size(); ++i) copies_[before[i]] = graph().node(made).outputs[i];
  return made;
}

/// A gather joins the rows that are left; one that has nothing else to do than to hand on all rows of its own cells goes.
void StraightRegion::join(NodeId id, Rewriter::Body& body) {
  Node node = graph().node(id);
  const SpaceId target(node.attributes.integer("space"));
  const size_t plain = plain_inputs(node);
  std::vector<ValueId> inputs;
  bool covers = false;  // a row for each cell
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i < plain && is_dead(graph().value(node.inputs[i]).type.space)) continue;
    inputs.push_back(copy_of(node.inputs[i]));
    covers = covers || (i < plain && graph().value(inputs.back()).type.space == target);
  }
  if (const auto otherwise = extra_input(node, "otherwise", plain); covers && otherwise) {
    inputs.erase(inputs.end() - static_cast<std::ptrdiff_t>(node.inputs.size() - *otherwise));
    remove_extra(node, "otherwise");
  }
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

ValueId StraightRegion::holds(ValueId decision, std::vector<NodeId>& nodes) const {
  const std::string& router = router_name(graph(), decision_);
  std::vector<int64_t> full(taken_.begin(), taken_.end()), empty;
  const Value& decided = graph().value(decision_);
  // As many choices as a cell may have are those of the branches that got all cells.
  if (static_cast<int32_t>(full.size()) < decided.fan_out)
    for (int32_t b = 0; b < decided.branches; ++b)
      if (!taken_.contains(b)) empty.push_back(b);
  std::vector<ValueId> flags;
  const auto ask = [&](std::string_view op, std::vector<int64_t> branches, const std::string& name) {
    if (branches.empty()) return;
    nodes.push_back(rewriter_.make_node(op, {decision}, {{"branches", std::move(branches)}}, name));
    flags.push_back(graph().node(nodes.back()).outputs[0]);
  };
  ask("branches_full", std::move(full), router + ".all");
  ask("branches_empty", std::move(empty), router + ".none");
  if (flags.size() == 1) return flags[0];
  nodes.push_back(rewriter_.make_node("all_set", std::move(flags), {}, router + ".constant"));
  return graph().node(nodes.back()).outputs[0];
}

}  // namespace stormcell
