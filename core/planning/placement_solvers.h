// The visible list of solvers: what --solver takes.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace stormcell {

enum class SolverKind : uint8_t { eplb, load, joint, exact, keep };

struct PlacementSolver {
  SolverKind kind;
  std::string_view id, summary;
  bool takes_aim;  ///< --aim
  bool searches;   ///< places by itself, and no expert twice on a GPU
};
std::vector<PlacementSolver> placement_solvers();
/// Error(bad_input) that names --solver: there is no such one.
const PlacementSolver& find_placement_solver(std::string_view id);

}  // namespace stormcell
