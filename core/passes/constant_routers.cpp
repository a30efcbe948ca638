#include "core/passes/constant_routers.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/passes/profiled_branches.h"

namespace stormcell {

PassResult ConstantRouters::run() {
  while (step()) {
  }
  for (const auto& [router, branches] : constant_.taken)
    if (input_.parameters && !seen_.contains(router)) refusals_.emplace_back(router, "the model has no such router");
  PassResult result;
  result.applied = !applied_.empty();
  result.graph = result.applied ? rewriter_.finish() : input_.graph;
  for (const std::string& router : applied_) result.parameters[router] = branch_list(constant_.taken.at(router));
  if (!result.applied) result.reason = reason({});
  return result;
}

/// One region a step: blocks are looked at anew then, without fallbacks, so that routers within what is taken come later.
bool ConstantRouters::step() {
  for (const BlockPlace place : blocks_of(graph(), Fallbacks::left_out))
    for (const ValueId decision : decisions_of(graph(), place)) {
      const std::string router = router_name(graph(), decision);
      seen_.insert(router);
      if (!constant_.taken.contains(router) || !done_.insert({decision, place.owner, place.body}).second) continue;
      for (const Region& region : find_regions(graph(), place, decision)) {
        const std::string why = make_straight(part_behind(graph(), region, std::span(&decision, 1)), decision);
        if (why.empty()) {
          applied_.insert(router);
          done_.erase({decision, place.owner, place.body});  // it may have other regions
          return true;
        }
        refusals_.emplace_back(router, why);
      }
    }
  return false;
}

std::vector<ValueId> ConstantRouters::joined(const Region& region) const {
  std::vector<ValueId> values;
  for (const NodeId id : region.gathers) values.push_back(graph().node(id).outputs[0]);
  return values;
}

std::string ConstantRouters::reason(const std::string& what) const {
  if (applied_.empty() && refusals_.empty()) {
    if (input_.profile.routers.empty() && !input_.parameters) return "no router was profiled";
    if (constant_.seen_less > 0)
      return counted(constant_.seen_less, "router") + " always decided the same way, about too few cells to go by (min-cells)";
    return "no router sent all profiled cells to the same branches";
  }
  std::string text;
  if (!applied_.empty()) {
    // The least evidence there is of any of them.
    int64_t least = 0;
    for (const std::string& router : applied_)
      if (const auto at = constant_.cells.find(router); at != constant_.cells.end())
        least = least == 0 ? at->second : std::min(least, at->second);
    text = counted(static_cast<int64_t>(applied_.size()), "router") + " always decided the same way";
    if (least > 0) text += " (" + none_of(least, "profiled cells otherwise") + ")";
    text += ": " + what;
  }
  return with_refusals(std::move(text), refusals_);
}

}  // namespace stormcell
