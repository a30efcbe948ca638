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

constexpr const char* kOff = "--off";

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

void check_off(const std::vector<Router>& routers, const std::string& name, const std::vector<int32_t>& off,
               int32_t k) {
  const auto found = std::find_if(routers.begin(), routers.end(), [&](const Router& r) { return r.name == name; });
  if (found == routers.end())
    bad_input(kOff, "the model has no router \"" + name + "\"",
              routers.empty() ? "none of its parts is chosen at run time"
                              : advice_on_word(name, routers, [](const Router& r) { return r.name; }));
  const Router& router = *found;
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
  for (const auto& [router, off] : branches_off(intervention)) check_off(routers, router, off, intervention.k);
  // Groups of branches have rules of their own, which the operator knows.
  try {
    intervened(std::make_shared<Graph>(graph), intervention);
  } catch (const Error& e) {
    bad_input(intervention.off.empty() ? "--k" : kOff, e.what(), "leave more branches on, or take fewer with --k");
  }
}

std::shared_ptr<const Graph> with_k(std::shared_ptr<const Graph> graph, int32_t k) {
  if (k == 0) return graph;
  return with_protocols(*graph, [&](Node& node) {
    if (takes(protocol_row(protocol_of(node.attributes).kind), "k")) node.attributes.set("k", int64_t{k});
  });
}

std::shared_ptr<const Graph> intervened(std::shared_ptr<const Graph> graph, const Intervention& intervention) {
  const BranchesOff all = branches_off(intervention);
  graph = with_k(std::move(graph), intervention.k);
  if (all.empty()) return graph;
  return with_protocols(*graph, [&](Node& node) {
    if (const auto off = all.find(node.name); off != all.end())
      node.attributes.set("off", std::vector<int64_t>(off->second.begin(), off->second.end()));
  });
}

}  // namespace stormcell
