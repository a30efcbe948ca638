// Plans with one mistake each, which whatever judges plans has to find.
#pragma once
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell::testing {

/// A plan with one mistake.
struct WrongPlan {
  std::string mistake;
  Graph graph;
};
/// Two weights swapped; a scale or an activation left out; an eps doubled: each once, where the graph has one.
std::vector<WrongPlan> wrong_plans(const Graph& plan);
/// A guard that asks for one branch less; weights of choices left out or doubled: each once, where the graph has one.
std::vector<WrongPlan> wrong_decisions(const Graph& plan);

}  // namespace stormcell::testing
