// A router's loads as passes ask for them, and the names of its branches in parameters.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/passes/pass.h"

namespace stormcell {

/// The branches as parameters name them: "1,4,5".
std::string branch_list(const std::vector<int32_t>& branches);
/// The branches that a parameter of `pass` names for a router. Error(bad_input) for what is no such list, or a branch
/// that the router does not have. A router that the model does not have is the pass's to refuse, with a reason.
std::vector<int32_t> branches_named(const Graph& graph, std::string_view pass, const std::string& router,
                                    const std::string& text);

/// Most branches that one cell of the router gets.
int32_t fan_out_of(const Graph& graph, const std::string& router);
/// A pass before has left the padding out.
bool decides_about_real_cells(const Graph& graph, const std::string& router);
/// Loads and cells of a router as it decides in the graph at hand: of real cells where `real` and where they are known.
struct LoadInUse {
  const std::vector<int64_t>& load;
  int64_t cells;
};
LoadInUse load_in_use(const RouterLoad& load, bool real);

}  // namespace stormcell
