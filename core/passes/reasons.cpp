#include "core/passes/reasons.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/graph/roles.h"

namespace stormcell {

std::string with_refusals(std::string done, const Refusals& refusals) {
  // Reasons in the order in which they came.
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& [router, why] : refusals) {
    auto at = std::find_if(reasons.begin(), reasons.end(), [&why = why](const auto& r) { return r.first == why; });
    if (at == reasons.end()) at = reasons.insert(at, {why, {}});
    if (std::find(at->second.begin(), at->second.end(), router) == at->second.end()) at->second.push_back(router);
  }
  constexpr size_t kShown = 4;
  for (size_t i = 0; i < std::min(reasons.size(), kShown); ++i) {
    const auto& [why, routers] = reasons[i];
    done += (done.empty() ? "not applied to " : "; not applied to ") + routers[0];
    if (routers.size() == 2) done += " and " + routers[1];
    if (routers.size() > 2) done += " and " + counted(std::ssize(routers) - 1, "other");
    done += ": " + why;
  }
  if (reasons.size() > kShown) done += "; and " + counted(static_cast<int64_t>(reasons.size() - kShown), "more reason");
  return done;
}

bool AskedKernels::has(std::string_view op) {
  if (input_.has_kernel(op)) return true;
  missing_.insert(op);
  return false;
}

std::string AskedKernels::missing() const {
  std::string names;
  for (const std::string_view op : missing_) {
    if (!names.empty()) names += op == *missing_.rbegin() ? " and " : ", ";
    names += op;
  }
  return names.empty() ? names : "the device has no kernel for " + names;
}

bool has_guards(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return has_role(node, Role::guard); });
}

}  // namespace stormcell
