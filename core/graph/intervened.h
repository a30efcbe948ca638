// The same network, its routers changed: another k, branches that are never chosen.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/cell/intervention.h"
#include "core/graph/graph.h"

namespace stormcell {

/// Branches that are off, by router, ascending.
using BranchesOff = std::map<std::string, std::vector<int32_t>, std::less<>>;
BranchesOff branches_off(const Intervention& intervention);

/// Throws Error(bad_input) that names the option: an unknown router or branch, a protocol without next best branch, a
/// router without any branch left, a k that no router takes or that exceeds some router's branches.
void check_intervention(const Graph& graph, const Intervention& intervention);

/// The graph with another k, as the oracle runs it too. With 0 it is the same object.
std::shared_ptr<const Graph> with_k(std::shared_ptr<const Graph> graph, int32_t k);

/// The graph as devices run it: with_k(), and routers that know which of their branches are off. With neither it is the
/// same object. The oracle does not run it: it is given the branches beside the graph.
std::shared_ptr<const Graph> intervened(std::shared_ptr<const Graph> graph, const Intervention& intervention);

}  // namespace stormcell
