// How passes say what they did and what they left.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/passes/pass.h"

namespace stormcell {

/// Pairs of a router and the reason why the pass refused it.
using Refusals = std::vector<std::pair<std::string, std::string>>;
/// "DONE; not applied to ROUTER and 2 others: why; and 1 more reason", or the refusals alone. Routers refused for one
/// reason are listed together, by name if they are two.
std::string with_refusals(std::string done, const Refusals& refusals);

/// Reasons that several passes give.
inline constexpr const char* kDependOnIt = "nodes between its scatters and gathers depend on it";
inline constexpr const char* kNoSuchRouter = "the model has no such router";
inline constexpr const char* kNoRouterProfiled = "no router was profiled";

/// Asks for the kernels of nodes that a pass would make, and says which of them the device lacks.
class AskedKernels {
 public:
  /// `input` must outlive it.
  explicit AskedKernels(const PassInput& input) : input_(input) {}
  /// Whether the device has one for this operator; one that it lacks is noted.
  bool has(std::string_view op);
  /// "the device has no kernel for compact and pack", of those that were asked for; empty: it has all of them.
  std::string missing() const;

 private:
  const PassInput& input_;
  std::set<std::string_view> missing_;
};

/// True if the graph has guards.
bool has_guards(const Graph& graph);

}  // namespace stormcell
