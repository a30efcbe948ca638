#include "core/planning/placement_solvers.h"

#include <array>
#include <string>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

constexpr std::array kSolvers = {
    PlacementSolver{SolverKind::eplb, "eplb",
                    "the EPLB rule: replicas for the most loaded experts, then packing by load", false, false},
    PlacementSolver{SolverKind::load, "load",
                    "balance only: it improves what the EPLB rule leaves, and no replica is idle", false, true},
    PlacementSolver{SolverKind::joint, "joint",
                    "the cheapest steps, or the least traffic at about EPLB's balance (--aim), by searches that a "
                    "validation part judges",
                    true, true},
    PlacementSolver{SolverKind::exact, "exact",
                    "the best placement for the same aims, up to 8 experts on 4 GPUs, without spare slots", true, true},
    PlacementSolver{SolverKind::keep, "keep",
                    "the layout that --from names, else the contiguous one that servers begin with", false, false},
};

}  // namespace

std::vector<PlacementSolver> placement_solvers() { return {kSolvers.begin(), kSolvers.end()}; }

const PlacementSolver& find_placement_solver(std::string_view id) {
  for (const PlacementSolver& solver : kSolvers)
    if (solver.id == id) return solver;
  bad_input("--solver", in_quotes(id) + " is not a solver",
            advice_on_word(id, kSolvers, [](const PlacementSolver& s) { return s.id; }));
}

}  // namespace stormcell
