#include "core/proof/plan_places.h"

#include <algorithm>
#include <utility>

#include "core/cell/decision.h"
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
bool asks_for_none(const Node& question) { return question.op->name == "branches_empty"; }
bool asks_for_all(const Node& question) { return question.op->name == "branches_full"; }

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
  for (const auto& [space, branch] : here) add(within, space, branch);
  for (const NodeId id : block.nodes) {
    const Node& node = graph_.node(id);
    const bool guard = has_role(node, Role::guard);
    for (int body = 0; body < std::ssize(node.bodies); ++body) {
      if (guard) within.emplace_back(id, body);
      add_block(node.bodies[body], within);
      if (guard) within.pop_back();
    }
  }
}

void PlanPlaces::add(const std::vector<Body>& within, SpaceId space, int32_t branch) {
  Place place{within, space, branch, {}};
  if (std::vector<RouterBranch> choices = choices_above(graph_, space, branch); !choices.empty())
    place.lead.cells.push_back(std::move(choices));
  for (const Body& body : within) enter(body, place.lead);
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
    if (asks_for_none(made) || asks_for_all(made))
      found.push_back(producer);
    else if (!is_route(made))
      open.insert(open.end(), made.inputs.begin(), made.inputs.end());
  }
  return found;
}

/// The first body runs if the answer to all questions is yes, the second one if it is no to one of them.
void PlanPlaces::enter(const Body& body, Lead& lead) const {
  std::vector<std::vector<RouterBranch>> misses;
  for (const NodeId id : questions(body.first)) {
    const Node& question = graph_.node(id);
    const Value& decision = graph_.value(question.inputs[0]);
    if (decision.producer == kNone || !is_route(graph_.node(decision.producer))) continue;
    const std::string& router = graph_.node(decision.producer).name;
    const std::set<int32_t> asked = branches_asked(question);
    if (body.second == 0) {
      (asks_for_none(question) ? lead.empty : lead.full)[router].insert(asked.begin(), asked.end());
      continue;
    }
    for (int32_t branch = 0; branch < decision.branches; ++branch) {
      if (asked.contains(branch) != asks_for_none(question)) continue;
      misses.push_back(choices_above(graph_, decision.type.space, kAllBranches));
      misses.back().emplace_back(router, branch);
    }
  }
  const auto chosen_anyway = [&](const std::vector<RouterBranch>& miss) {
    return std::any_of(lead.cells.begin(), lead.cells.end(), [&](const std::vector<RouterBranch>& cell) {
      return std::find(cell.begin(), cell.end(), miss.back()) != cell.end();
    });
  };
  if (!misses.empty() && std::none_of(misses.begin(), misses.end(), chosen_anyway)) lead.cells.push_back(misses[0]);
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

bool PlanPlaces::has_cells(SpaceId space, int32_t branch, const Decisions& made) const {
  const SpaceId routed = routed_above(graph_, space);
  if (routed == kNone) return true;
  const CellSpace& cells = graph_.space(routed);
  const auto at = made.find(graph_.value(cells.decision).producer);
  if (at == made.end()) return false;
  const std::vector<int32_t>& choice = at->second->choice;
  const int32_t chosen = cells.branch == kAllBranches ? branch : cells.branch;
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
    return place.space == kNone || has_cells(place.space, place.branch, made);
  });
}

std::vector<Lead*> PlanPlaces::leads() {
  std::vector<Lead*> leads;
  for (Place& place : unreached_) leads.push_back(&place.lead);
  return leads;
}

}  // namespace stormcell
