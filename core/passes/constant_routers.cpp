#include "core/passes/constant_routers.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/graph/roles.h"
#include "core/passes/profiled_branches.h"

namespace stormcell {

PassResult ConstantRouters::run() {
  while (step()) {
  }
  std::set<std::string> routers;
  input_.graph.for_each_node([&](NodeId id, int) {
    if (is_route(input_.graph.node(id))) routers.insert(input_.graph.node(id).name);
  });
  for (const auto& [router, branches] : constant_.taken)
    if (input_.parameters && !routers.contains(router)) refusals_.emplace_back(router, kNoSuchRouter);
  PassResult result;
  result.applied = !applied_.empty();
  result.graph = result.applied ? rewriter_.finish() : input_.graph;
  for (const std::string& router : applied_) {
    result.parameters[router] = branch_list(constant_.taken.at(router));
    result.claims.push_back({router, constant_.taken.at(router), fan_out_of(input_.graph, router),
                             decides_about_real_cells(input_.graph, router)});
  }
  if (!result.applied) result.reason = reason({});
  return result;
}

/// One region a step: blocks are looked at anew then, without fallbacks, so that routers within what is taken come
/// later.
bool ConstantRouters::step() {
  for (const BlockPlace place : blocks_of(graph(), Fallbacks::left_out))
    for (const ValueId decision : decisions_of(graph(), place)) {
      if (!constant_.taken.contains(router_name(graph(), decision)) ||
          !done_.insert({decision, place.owner, place.body}).second)
        continue;
      for (const Region& region : find_regions(graph(), place, decision))
        if (step(region)) {
          done_.erase({decision, place.owner, place.body});  // it may have other regions
          return true;
        }
    }
  return false;
}

std::vector<ValueId> ConstantRouters::constant_in(const Region& region) const {
  std::vector<ValueId> decisions;
  for (const ValueId d : region.decisions)
    if (constant_.taken.contains(router_name(graph(), d)) && !refused_.contains({d, region.nodes[0]}))
      decisions.push_back(d);
  return decisions;
}

/// One guard for all constant routers of a region that decide before what is behind any of them: their rows meet in the
/// same gathers, which must be in one guard. Routers within the branches come in a later step, in the body that is
/// taken. If one is in the way of the others, these go on without it.
bool ConstantRouters::step(const Region& region) {
  for (std::vector<ValueId> all = constant_in(region); !all.empty(); all = constant_in(region)) {
    const Region behind = part_behind(graph(), region, all);
    std::vector<ValueId> first;
    for (const ValueId d : all)
      if (std::find(behind.nodes.begin(), behind.nodes.end(), graph().value(d).producer) == behind.nodes.end())
        first.push_back(d);
    std::optional<Obstacle> why = straighten(region, first);
    if (why && why->decision == kNone && first.size() > 1)
      for (const ValueId d : first)
        if (why) why = straighten(region, std::span(&d, 1));
    if (!why) return true;
    if (why->decision != kNone)
      refuse(region, why->decision, why->why);
    else
      for (const ValueId d : first) refuse(region, d, why->why);
  }
  return false;
}

/// Makes the part behind these decisions of a region straight.
std::optional<ConstantRouters::Obstacle> ConstantRouters::straighten(const Region& region,
                                                                     std::span<const ValueId> decisions) {
  TakenBranches taken;
  std::vector<std::string> routers;
  for (const ValueId d : decisions) {
    routers.push_back(router_name(graph(), d));
    const std::vector<int32_t>& branches = constant_.taken.find(routers.back())->second;
    taken[d] = {branches.begin(), branches.end()};
  }
  std::optional<Obstacle> why = make_straight(part_behind(graph(), region, decisions), std::move(taken));
  if (!why) applied_.insert(routers.begin(), routers.end());
  return why;
}

void ConstantRouters::refuse(const Region& region, ValueId decision, const std::string& why) {
  refused_.insert({decision, region.nodes[0]});
  refusals_.emplace_back(router_name(graph(), decision), why);
}

std::optional<ConstantRouters::Obstacle> ConstantRouters::without_kernels(
    const std::set<std::string_view>& operators) const {
  AskedKernels kernels(input_);
  for (const std::string_view op : operators) kernels.has(op);
  if (std::string missing = kernels.missing(); !missing.empty()) return Obstacle{kNone, std::move(missing)};
  return {};
}

std::string ConstantRouters::name_of(const Region& region, const std::string& what) const {
  std::string name;
  for (const ValueId d : region.decisions) name += (name.empty() ? "" : "+") + router_name(graph(), d);
  return name + "." + what;
}

std::vector<ValueId> ConstantRouters::joined(const Region& region) const {
  std::vector<ValueId> values;
  for (const NodeId id : region.gathers) values.push_back(graph().node(id).outputs[0]);
  return values;
}

std::string ConstantRouters::reason(const std::string& what) const {
  if (applied_.empty() && refusals_.empty()) {
    if (input_.profile.routers.empty() && !input_.parameters) return kNoRouterProfiled;
    if (constant_.seen_less > 0)
      return counted(constant_.seen_less, "router") +
             " always decided the same way, but about too few cells to rely on it (min-cells)";
    return "no router sent all profiled cells to the same branches";
  }
  std::string text;
  if (!applied_.empty()) {
    // The least evidence there is of any of them.
    int64_t least = 0;
    for (const std::string& router : applied_)
      if (const auto at = constant_.cells.find(router); at != constant_.cells.end())
        least = least == 0 ? at->second : std::min(least, at->second);
    text = counted(std::ssize(applied_), "router") + " always decided the same way";
    if (least > 0) text += " (" + otherwise_text(0, least, "profiled") + ")";
    text += ": " + what;
  }
  return with_refusals(std::move(text), refusals_);
}

}  // namespace stormcell
