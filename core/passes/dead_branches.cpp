#include "core/passes/dead_branches.h"

#include <algorithm>

#include "core/graph/roles.h"
#include "core/graph/uses.h"
#include "core/passes/dead_path.h"
#include "core/passes/profiled_branches.h"
#include "core/passes/region.h"

namespace stormcell {
namespace {

/// Branches that got at most `most_share` of the cells; of `real` ones where padding is left out and they are known.
std::vector<int32_t> empty_branches(const RouterLoad& load, bool real, double most_share) {
  const LoadInUse in_use = load_in_use(load, real);
  std::vector<int32_t> empty;
  for (size_t b = 0; b < in_use.load.size(); ++b)
    if (static_cast<double>(in_use.load[b]) <= most_share * static_cast<double>(in_use.cells))
      empty.push_back(static_cast<int32_t>(b));
  return empty;
}

}  // namespace

DeadBranches dead_branches(const PassInput& input) {
  DeadBranches dead;
  if (input.parameters) {
    for (const auto& [router, branches] : *input.parameters)
      dead[router] = branches_named(input.graph, "dead-path", router, branches);
    return dead;
  }
  const double most_share = input.option(kDeadShare);
  for (const auto& [router, load] : input.profile.routers) {
    if (load.batches == 0) continue;
    const bool real = decides_about_real_cells(input.graph, router);
    std::vector<int32_t> empty = empty_branches(load, real, most_share);
    for (const RouterLoad& either : load.prompt_and_turns) {
      const std::vector<int32_t> there = empty_branches(either, real, most_share);
      std::erase_if(empty, [&](int32_t b) { return !std::binary_search(there.begin(), there.end(), b); });
    }
    if (!empty.empty()) dead[router] = std::move(empty);
  }
  return dead;
}

std::vector<std::pair<std::string, std::string>> dead_in_one_part(const PassInput& input) {
  std::vector<std::pair<std::string, std::string>> routers;
  const double most_share = input.option(kDeadShare);
  const std::string few = most_share > 0 ? "few cells or none" : "no cells";
  for (const auto& [router, load] : input.profile.routers) {
    if (load.prompt_and_turns.size() != 2) continue;
    const bool real = decides_about_real_cells(input.graph, router);
    const std::vector<int32_t> prompt = empty_branches(load.prompt_and_turns[0], real, most_share),
                               turns = empty_branches(load.prompt_and_turns[1], real, most_share);
    if (!std::includes(prompt.begin(), prompt.end(), turns.begin(), turns.end()))
      routers.emplace_back(router, "what gets " + few + " in turns gets more in the prompt, which needs its weights");
    else if (turns != prompt)
      routers.emplace_back(router, "what gets " + few + " in the prompt gets more in turns, which need its weights");
  }
  return routers;
}

std::set<ValueId> weights_of_dead_branches(const Graph& graph, const DeadBranches& dead_branches) {
  std::set<ValueId> read, needed;
  const auto is_dead_branch = [&](ValueId decision, int32_t branch) {
    const auto at = dead_branches.find(router_name(graph, decision));
    return at != dead_branches.end() && std::find(at->second.begin(), at->second.end(), branch) != at->second.end();
  };
  for (const BlockPlace place : blocks_of(graph, Fallbacks::left_out))
    for (const NodeId id : block_at(graph, place).nodes) {
      const Node& node = graph.node(id);
      bool dead = false;
      for (SpaceId s = node.outputs.empty() ? kNone : graph.value(node.outputs[0]).type.space; s != kNone;
           s = graph.space(s).parent)
        dead = dead || (graph.space(s).kind == SpaceKind::routed &&
                        is_dead_branch(graph.space(s).decision, graph.space(s).branch));
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (graph.value(node.inputs[i]).kind != ValueKind::weight) continue;
        const std::optional<int32_t> own = branch_of_input(node, i);
        const bool of_dead = dead || (own && is_dead_branch(sends_by(graph, node), *own));
        (of_dead ? read : needed).insert(node.inputs[i]);
      }
    }
  std::set<ValueId> only;
  for (const ValueId v : read)
    if (!needed.contains(v)) only.insert(v);
  return only;
}

FallbackBytes bytes_of_fallbacks_only(const Graph& graph, const std::set<std::string, std::less<>>& parts) {
  std::set<ValueId> everywhere, needed;
  for (const Fallbacks which : {Fallbacks::included, Fallbacks::left_out})
    for (const BlockPlace place : blocks_of(graph, which))
      for (const NodeId id : block_at(graph, place).nodes)
        for (const ValueId v : graph.node(id).inputs)
          if (graph.value(v).kind == ValueKind::weight) (which == Fallbacks::included ? everywhere : needed).insert(v);
  FallbackBytes bytes;
  for (const ValueId v : everywhere)
    if (!needed.contains(v))
      (parts.contains(weight_text(graph.value(v))) ? bytes.parts : bytes.loaded) += stored_bytes(graph, v);
  return bytes;
}

}  // namespace stormcell
