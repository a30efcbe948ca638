// How passes say what they did and what they left.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/passes/pass.h"

namespace stormcell {

/// Pairs of a router and the reason why the pass refused it.
using Refusals = std::vector<std::pair<std::string, std::string>>;
/// "DONE; not applied to ROUTER and 2 others: why; and 1 more reason", or what was refused alone. Routers refused for one reason
/// stand together, named where they are two.
std::string with_refusals(std::string done, const Refusals& refusals);

/// What several passes say.
inline constexpr const char* kDependOnIt = "nodes between its scatters and gathers depend on it";
inline constexpr const char* kNoSuchRouter = "the model has no such router";
inline constexpr const char* kNoRouterProfiled = "no router was profiled";

/// True if the graph has guards.
bool has_guards(const Graph& graph);

}  // namespace stormcell
