// The same network, its routers changed: another k, another capacity, branches that are never chosen.
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

/// Capacities that routers get in the place of their own, by router.
using Capacities = std::map<std::string, Capacity, std::less<>>;
Capacities changed_capacities(const Graph& graph, const Intervention& intervention);

/// Throws Error(bad_input) that names the option: an unknown router or branch, a protocol without next best branch, a
/// router without any branch left, a k that no router takes or that exceeds some router's branches, a capacity that no
/// router takes.
void check_intervention(const Graph& graph, const Intervention& intervention);

/// The graph with another k, as the oracle runs it too. With 0 it is the same object.
std::shared_ptr<const Graph> with_k(std::shared_ptr<const Graph> graph, int32_t k);

/// The graph as the oracle runs it: another k, and capacities as the intervention has them, by which cells depend on
/// each other. The oracle drops cells by what it is given beside the graph (OracleOptions). Without either it is the
/// same object.
std::shared_ptr<const Graph> for_oracle(std::shared_ptr<const Graph> graph, const Intervention& intervention);

/// The graph as devices run it: for_oracle(), and routers that know which of their branches are off. Without any it is
/// the same object. The oracle does not run it: it is given the branches beside the graph.
std::shared_ptr<const Graph> intervened(std::shared_ptr<const Graph> graph, const Intervention& intervention);

}  // namespace stormcell
