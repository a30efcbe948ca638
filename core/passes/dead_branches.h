// Which branches nobody went to, and what only they read.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace stormcell {

/// Dead branches of each router, by its name.
using DeadBranches = std::map<std::string, std::vector<int32_t>, std::less<>>;

/// Those that the parameters name, or those without load in all profiled batches.
DeadBranches dead_branches(const PassInput& input);
/// As parameters hold them: "1,4,5".
std::string branch_list(const std::vector<int32_t>& branches);

/// Weights that only dead branches read, of whichever router: prefill and step read the same ones.
std::set<ValueId> weights_of_dead_branches(const Graph& graph, const DeadBranches& dead_branches);
/// Bytes of the weights that nothing outside of fallbacks reads.
int64_t bytes_of_fallbacks_only(const Graph& graph);

}  // namespace stormcell
