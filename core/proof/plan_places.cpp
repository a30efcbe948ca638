#include "core/proof/plan_places.h"

#include <algorithm>
#include <utility>

#include "core/cell/decision.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// The routed space that a space is, or that tells which cells it has; kNone: none does.
SpaceId routed_above(const Graph& graph, SpaceId space) {
  while (space != kNone && graph.space(space).kind != SpaceKind::routed)
    space = graph.holds_members(space) ? graph.space(space).parent : graph.origin(space);
  return space;
}

std::set<int32_t> branches_asked(const Node& question) {
  const std::vector<int64_t>& list = question.attributes.list("branches");
  return {list.begin(), list.end()};
}
bool asks_for_none(const Node& question) { return question.op == find_operator("branches_empty"); }
bool asks_for_all(const Node& question) { return question.op == find_operator("branches_full"); }

const ProtocolRow& protocol_of_router(const Node& router) { return protocol_row(protocol_of(router.attributes).kind); }

int64_t cells_of(const OracleDecision& made, int32_t branch) {
  return std::count(made.choice.begin(), made.choice.end(), branch);
}

}  // namespace

std::vector<RouterBranch> choices_above(const Graph& graph, SpaceId space, int32_t branch) {
  std::vector<RouterBranch> choices;
  for (SpaceId s = routed_above(graph, space); s != kNone; s = routed_above(graph, graph.origin(s))) {
    const CellSpace& routed = graph.space(s);
    const int32_t chosen = routed.branch == kAllBranches ? std::exchange(branch, kAllBranches) : routed.branch;
    const NodeId producer = graph.value(routed.decision).producer;
    if (chosen != kAllBranches && producer != kNone && is_route(graph.node(producer)))
      choices.emplace_back(graph.node(producer).name, chosen);
  }
  return choices;
}

PlanPlaces::PlanPlaces(const Graph& graph) : graph_(graph) {
  std::vector<Body> within;
  add_block(graph.top, within);
}

void PlanPlaces::add_block(const Block& block, std::vector<Body>& within) {
  std::set<std::pair<SpaceId, int32_t>> here;
  if (!within.empty()) here.emplace(kNone, kAllBranches);
  for (const NodeId id : block.nodes) {
    const Node& node = graph_.node(id);
    for (const ValueId output : node.outputs)
      if (const SpaceId space = graph_.value(output).type.space; graph_.is_dynamic(space))
        here.emplace(space, kAllBranches);
    if (has_role(node, Role::grouped))
      for (const int32_t branch : branches_sent(graph_, node))
        here.emplace(graph_.value(node.outputs[0]).type.space, branch);
  }
  for (const auto& [space, branch] : here)
    add({within, space, kNone, branch, {}}, choices_above(graph_, space, branch));
  for (const NodeId id : block.nodes) {
    const Node& node = graph_.node(id);
    const bool guard = has_role(node, Role::guard);
    for (int body = 0; body < std::ssize(node.bodies); ++body) {
      if (guard) within.emplace_back(id, body);
      if (guard && body == 0) add_unasked(id, within);
      add_block(node.bodies[body], within);
      if (guard) within.pop_back();
    }
  }
}

/// The branches that a guard does not ask about.
void PlanPlaces::add_unasked(NodeId guard, const std::vector<Body>& within) {
  for (const NodeId id : questions(guard)) {
    const Node& question = graph_.node(id);
    const ValueId asked = question.inputs[0];
    const Value& decision = graph_.value(asked);
    const std::set<int32_t> branches = branches_asked(question);
    for (int32_t branch = 0; branch < decision.branches; ++branch) {
      if (branches.contains(branch)) continue;
      std::vector<RouterBranch> choices = choices_above(graph_, decision.type.space, kAllBranches);
      choices.emplace_back(graph_.node(decision.producer).name, branch);
      add({within, kNone, asked, branch, {}}, std::move(choices));
    }
  }
}

void PlanPlaces::add(Place place, std::vector<RouterBranch> choices) {
  if (!choices.empty()) place.lead.cells.push_back(std::move(choices));
  for (const Body& body : place.within) enter(body, place.lead);
  unreached_.push_back(std::move(place));
}

std::vector<NodeId> PlanPlaces::questions(NodeId guard) const {
  const Node& node = graph_.node(guard);
  std::vector<NodeId> found;
  std::vector<ValueId> open{node.inputs.empty() ? node.yields[0].back() : node.inputs[0]};
  while (!open.empty()) {
    const NodeId producer = graph_.value(open.back()).producer;
    open.pop_back();
    if (producer == kNone) continue;
    const Node& made = graph_.node(producer);
    if (asks_for_none(made) || asks_for_all(made)) {
      const NodeId decides = graph_.value(made.inputs[0]).producer;
      if (decides != kNone && is_route(graph_.node(decides))) found.push_back(producer);
    }
    if (!is_route(made)) open.insert(open.end(), made.inputs.begin(), made.inputs.end());
  }
  return found;
}

/// The choices of one cell that let the answer to a question be no, in several ways.
PlanPlaces::Ways PlanPlaces::ways_to_miss(const Node& question) const {
  const Value& decision = graph_.value(question.inputs[0]);
  const Node& router = graph_.node(decision.producer);
  const ProtocolRow& protocol = protocol_of_router(router);
  const bool may_leave_out = protocol.fan_out == FanOut::all || protocol.places != Places::unlimited;
  const std::set<int32_t> asked = branches_asked(question);
  std::vector<int32_t> chosen;
  if (asks_for_none(question)) {
    chosen.assign(asked.begin(), asked.end());
  } else {
    for (int32_t branch = 0; branch < decision.branches && protocol.fan_out != FanOut::all; ++branch)
      if (!asked.contains(branch)) chosen.push_back(branch);
    if (may_leave_out)
      for (const int32_t branch : asked) chosen.push_back(dropped_from(branch));
  }
  Ways ways;
  for (const int32_t branch : chosen) {
    ways.push_back(choices_above(graph_, decision.type.space, kAllBranches));
    ways.back().emplace_back(router.name, branch);
  }
  return ways;
}

/// The first body runs if the answer to all questions is yes, the second one if it is no to one of them.
void PlanPlaces::enter(const Body& body, Lead& lead) const {
  Ways ways;
  for (const NodeId id : questions(body.first)) {
    const Node& question = graph_.node(id);
    const std::string& router = graph_.node(graph_.value(question.inputs[0]).producer).name;
    const std::set<int32_t> asked = branches_asked(question);
    if (body.second == 0) {
      (asks_for_none(question) ? lead.empty : lead.full)[router].insert(asked.begin(), asked.end());
    } else {
      for (std::vector<RouterBranch>& way : ways_to_miss(question)) ways.push_back(std::move(way));
    }
  }
  if (body.second == 0) return;
  const auto chosen_anyway = [&](const std::vector<RouterBranch>& way) {
    return std::any_of(lead.cells.begin(), lead.cells.end(), [&](const std::vector<RouterBranch>& cell) {
      return std::find(cell.begin(), cell.end(), way.back()) != cell.end();
    });
  };
  if (std::any_of(ways.begin(), ways.end(), chosen_anyway)) return;
  const auto way = std::find_if(ways.begin(), ways.end(), [&](const std::vector<RouterBranch>& choices) {
    const auto empty = lead.empty.find(choices.back().first);
    return empty == lead.empty.end() || !empty->second.contains(choices.back().second);
  });
  if (way == ways.end())
    lead.contradicts_itself = true;
  else
    lead.cells.push_back(*way);
}

bool PlanPlaces::has_run(const Body& body, const Decisions& made) const {
  bool holds = true;
  for (const NodeId id : questions(body.first)) {
    const Node& question = graph_.node(id);
    const auto at = made.find(graph_.value(question.inputs[0]).producer);
    if (at == made.end()) {
      // The decisions of a body that was left again are not kept.
      holds = holds && !graph_.node(body.first).inputs.empty();
      continue;
    }
    const int64_t wanted = asks_for_none(question) ? 0 : at->second->shape.cells;
    for (const int32_t branch : branches_asked(question)) holds = holds && cells_of(*at->second, branch) == wanted;
  }
  return holds == (body.second == 0);
}

bool PlanPlaces::has_cells(const Place& place, const Decisions& made) const {
  ValueId decision = place.decision;
  int32_t chosen = place.branch;
  if (const SpaceId routed = routed_above(graph_, place.space); routed != kNone) {
    decision = graph_.space(routed).decision;
    if (graph_.space(routed).branch != kAllBranches) chosen = graph_.space(routed).branch;
  }
  if (decision == kNone) return true;
  const auto at = made.find(graph_.value(decision).producer);
  if (at == made.end()) return false;
  const std::vector<int32_t>& choice = at->second->choice;
  if (chosen == kAllBranches) return std::any_of(choice.begin(), choice.end(), is_kept);
  return std::find(choice.begin(), choice.end(), chosen) != choice.end();
}

void PlanPlaces::take(const std::vector<OracleDecision>& decisions) {
  Decisions made;
  for (const OracleDecision& d : decisions) made[d.node] = &d;
  std::map<Body, bool> ran;
  std::erase_if(unreached_, [&](const Place& place) {
    for (const Body& body : place.within) {
      const auto [at, is_new] = ran.emplace(body, false);
      if (is_new) at->second = has_run(body, made);
      if (!at->second) return false;
    }
    return has_cells(place, made);
  });
}

int64_t PlanPlaces::unreached() const {
  return std::count_if(unreached_.begin(), unreached_.end(),
                       [](const Place& place) { return !place.lead.contradicts_itself; });
}

std::vector<Lead*> PlanPlaces::leads() {
  std::vector<Lead*> leads;
  for (Place& place : unreached_) leads.push_back(&place.lead);
  return leads;
}

}  // namespace stormcell
