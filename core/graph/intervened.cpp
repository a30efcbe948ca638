#include "core/graph/intervened.h"

#include <algorithm>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "core/graph/spaces.h"
#include "core/graph/verify.h"

namespace stormcell {
namespace {

constexpr const char *kOff = "--off", *kCapacity = "--capacity";

struct Router {
  std::string name;
  Protocol protocol;
  int32_t branches = 0;
};

/// Each router once: a router of a turn may occur twice.
std::vector<Router> routers_of(const Graph& graph) {
  std::vector<Router> routers;
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    const auto known = [&](const Router& r) { return r.name == node.name; };
    if (is_route(node) && std::none_of(routers.begin(), routers.end(), known))
      routers.push_back({node.name, protocol_of(node.attributes), graph.value(node.outputs[0]).branches});
  });
  return routers;
}

bool takes_k(const Router& router) { return takes(protocol_row(router.protocol.kind), "k"); }

void check_k(const std::vector<Router>& routers, int32_t k) {
  if (k == 0) return;
  const std::string asked = std::to_string(k);
  int32_t most = 0;
  for (const Router& r : routers)
    if (takes_k(r)) most = most == 0 ? r.branches : std::min(most, r.branches);
  if (most == 0)
    bad_input("--k",
              asked + ": no router of this model takes a number of branches a cell" +
                  (routers.empty() ? std::string()
                                   : ", " + routers.front().name + " decides by " +
                                         std::string(to_text(routers.front().protocol.kind))),
              "leave it out");
  if (k > std::min(most, kMostChoices))
    bad_input("--k", asked + " is more than the " + counted(most, "branch", "branches") + " of a router",
              "use 1 to " + std::to_string(std::min(most, kMostChoices)));
}

const Router& router_of(const std::vector<Router>& routers, const std::string& name, const char* option) {
  const auto found = std::find_if(routers.begin(), routers.end(), [&](const Router& r) { return r.name == name; });
  if (found == routers.end())
    bad_input(option, "the model has no router \"" + name + "\"",
              routers.empty() ? "none of its parts is chosen at run time"
                              : advice_on_word(name, routers, [](const Router& r) { return r.name; }));
  return *found;
}

void check_off(const std::vector<Router>& routers, const std::string& name, const std::vector<int32_t>& off,
               int32_t k) {
  const Router& router = router_of(routers, name, kOff);
  if (off.back() >= router.branches)
    bad_input(kOff,
              "router " + name + " has no branch " + std::to_string(off.back()) + ": it has " +
                  counted(router.branches, "branch", "branches"),
              "use 0 to " + std::to_string(router.branches - 1));
  if (!takes(protocol_row(router.protocol.kind), "off"))
    bad_input(kOff,
              "router " + name + " decides by " + std::string(to_text(router.protocol.kind)) +
                  ", which has no next best branch",
              "force its choices with --force");
  const int32_t left = router.branches - static_cast<int32_t>(off.size());
  if (left == 0)
    bad_input(kOff,
              router.branches == 1
                  ? "the only branch of router " + name + " is off"
                  : "all " + std::to_string(router.branches) + " branches of router " + name + " are off",
              "leave one on");
  const int32_t of_router = k > 0 ? k : router.protocol.k, needed = takes_k(router) ? of_router : 1;
  if (left < needed)
    bad_input(kOff,
              "router " + name + " keeps " + counted(left, "branch", "branches") + ", and each cell takes " +
                  std::to_string(needed),
              "leave more on, or take fewer with --k");
}

/// The unit in which a protocol states its capacity; all: it has none.
Capacity::Unit unit_of(const Protocol& protocol) {
  const ProtocolRow& row = protocol_row(protocol.kind);
  if (takes(row, "capacity")) return Capacity::Unit::cells;
  return takes(row, "capacity_factor") ? Capacity::Unit::factor : Capacity::Unit::all;
}
bool has_capacity(const Router& router) { return unit_of(router.protocol) != Capacity::Unit::all; }
bool takes_capacity(const Capacity& capacity, const Router& router) {
  return has_capacity(router) && (capacity.unit == Capacity::Unit::all || capacity.unit == unit_of(router.protocol));
}

[[noreturn]] void refuse_unit(const Router& router, const Capacity& capacity) {
  const std::string decides = "router " + router.name + " decides by " + std::string(to_text(router.protocol.kind));
  if (!has_capacity(router)) bad_input(kCapacity, decides + ", which has no capacity", "leave it out");
  bad_input(kCapacity,
            to_text(capacity) + ": " + decides + ", whose capacity is " +
                (unit_of(router.protocol) == Capacity::Unit::cells ? "a number of cells"
                                                                   : "a factor of the even share of a batch"),
            unit_of(router.protocol) == Capacity::Unit::cells ? "write cells, as 8, or all"
                                                              : "write a factor, as 1.25x, or all");
}

/// True if both say something of the same router, and neither is of one router where the other is of all.
bool contradict(const CapacityChange& a, const CapacityChange& b) {
  if (a.router != b.router) return false;
  const auto is_all = [](const CapacityChange& c) { return c.capacity.unit == Capacity::Unit::all; };
  return !a.router.empty() || a.capacity.unit == b.capacity.unit || is_all(a) || is_all(b);
}

void check_capacities(const std::vector<Router>& routers, const std::vector<CapacityChange>& changes) {
  for (size_t i = 0; i < changes.size(); ++i) {
    const CapacityChange& change = changes[i];
    for (size_t j = 0; j < i; ++j)
      if (contradict(changes[j], change))
        bad_input(kCapacity,
                  (change.router.empty() ? "all routers get" : "router " + change.router + " gets") + " " +
                      to_text(changes[j].capacity) + " and " + to_text(change.capacity),
                  "give one of them");
    if (!change.router.empty()) {
      const Router& router = router_of(routers, change.router, kCapacity);
      if (!takes_capacity(change.capacity, router)) refuse_unit(router, change.capacity);
      continue;
    }
    if (std::any_of(routers.begin(), routers.end(),
                    [&](const Router& r) { return takes_capacity(change.capacity, r); }))
      continue;
    if (routers.empty()) bad_input(kCapacity, "the model has no router", "none of its parts is chosen at run time");
    const auto limited = std::find_if(routers.begin(), routers.end(), has_capacity);
    refuse_unit(limited == routers.end() ? routers.front() : *limited, change.capacity);
  }
}

/// Sets what follows from how many branches a cell takes: types of decisions and of members, bounds of spaces.
void infer_again(Graph& graph) {
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (const ValueKind kind = graph.value(node.outputs[i]).kind;
          kind == ValueKind::decision || kind == ValueKind::ragged)
        graph.value(node.outputs[i]).fan_out = node.op->infer(graph, node)[i].fan_out;
  });
  for (const SpaceId id : graph.spaces.ids()) {
    CellSpace& s = graph.spaces[id];
    if (s.kind == SpaceKind::dense) s.count = graph.space(s.parent).count * s.per_parent;
    if (s.kind == SpaceKind::routed && s.branch == kAllBranches)
      s.count = graph.space(s.parent).count * Dim(graph.value(s.decision).fan_out);
    if (graph.holds_members(id) && graph.space(s.parent).branch == kAllBranches)
      s.count = ragged_cells(graph, s.offsets);
  }
}

/// Changes each router whose protocol is said to be another.
template <class Change>
std::shared_ptr<const Graph> with_protocols(const Graph& graph, Change change) {
  auto changed = std::make_shared<Graph>(graph);
  for (Node& node : changed->nodes)
    if (is_route(node)) change(node);
  infer_again(*changed);
  verify(*changed);
  return changed;
}

}  // namespace

BranchesOff branches_off(const Intervention& intervention) {
  BranchesOff off;
  for (const BranchOff& b : intervention.off) off[b.router].push_back(b.branch);
  for (auto& [router, branches] : off) {
    std::sort(branches.begin(), branches.end());
    branches.erase(std::unique(branches.begin(), branches.end()), branches.end());
  }
  return off;
}

void check_intervention(const Graph& graph, const Intervention& intervention) {
  const std::vector<Router> routers = routers_of(graph);
  check_k(routers, intervention.k);
  check_capacities(routers, intervention.capacities);
  for (const auto& [router, off] : branches_off(intervention)) check_off(routers, router, off, intervention.k);
  // Groups of branches have rules of their own, which the operator knows.
  try {
    intervened(std::make_shared<Graph>(graph), intervention);
  } catch (const Error& e) {
    if (intervention.off.empty() && intervention.k == 0) bad_input(kCapacity, e.what(), "leave it out");
    bad_input(intervention.off.empty() ? "--k" : kOff, e.what(), "leave more branches on, or take fewer with --k");
  }
}

std::shared_ptr<const Graph> with_k(std::shared_ptr<const Graph> graph, int32_t k) {
  if (k == 0) return graph;
  return with_protocols(*graph, [&](Node& node) {
    if (takes(protocol_row(protocol_of(node.attributes).kind), "k")) node.attributes.set("k", int64_t{k});
  });
}

Capacities changed_capacities(const Graph& graph, const Intervention& intervention) {
  Capacities changed;
  for (const Router& router : routers_of(graph))
    for (const bool named : {false, true})
      for (const CapacityChange& change : intervention.capacities)
        if (takes_capacity(change.capacity, router) && (named ? change.router == router.name : change.router.empty()))
          changed[router.name] = change.capacity;
  return changed;
}

std::shared_ptr<const Graph> for_oracle(std::shared_ptr<const Graph> graph, const Intervention& intervention) {
  graph = with_k(std::move(graph), intervention.k);
  const Capacities all = changed_capacities(*graph, intervention);
  if (all.empty()) return graph;
  return with_protocols(*graph, [&](Node& node) {
    const auto at = all.find(node.name);
    if (at == all.end()) return;
    // 0 is no limit.
    const Capacity& c = at->second;
    if (unit_of(protocol_of(node.attributes)) == Capacity::Unit::cells)
      node.attributes.set("capacity", static_cast<int64_t>(c.value));
    else
      node.attributes.set("capacity_factor", c.value);
  });
}

std::shared_ptr<const Graph> intervened(std::shared_ptr<const Graph> graph, const Intervention& intervention) {
  const BranchesOff all = branches_off(intervention);
  graph = for_oracle(std::move(graph), intervention);
  if (all.empty()) return graph;
  return with_protocols(*graph, [&](Node& node) {
    if (const auto off = all.find(node.name); off != all.end())
      node.attributes.set("off", std::vector<int64_t>(off->second.begin(), off->second.end()));
  });
}

}  // namespace stormcell
