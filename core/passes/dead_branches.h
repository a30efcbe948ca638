// Branches that got no cell, and the weights that only they read.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/passes/pass.h"

namespace stormcell {

/// Dead branches of each router, by its name.
using DeadBranches = std::map<std::string, std::vector<int32_t>, std::less<>>;

/// Branches that the parameters name, or those without load in all profiled batches. A router that decides over a
/// prompt and in turns must have no load in both: turns are few cells beside a prompt, and a share of all says nothing
/// of them.
DeadBranches dead_branches(const PassInput& input);
/// Routers of which the prompt alone or the turns alone have such branches, and why that is of no use.
std::vector<std::pair<std::string, std::string>> dead_in_one_part(const PassInput& input);

/// Weights that only dead branches read, of whichever router: prefill and step read the same ones.
std::set<ValueId> weights_of_dead_branches(const Graph& graph, const DeadBranches& dead_branches);
/// Bytes of the weights that nothing outside of fallbacks reads: those that are loaded when a guard misses, and those
/// that come and go (PassInput::parts).
struct FallbackBytes {
  int64_t loaded = 0, parts = 0;
};
FallbackBytes bytes_of_fallbacks_only(const Graph& graph, const std::set<std::string, std::less<>>& parts);

}  // namespace stormcell
