#include "core/runtime/part_site.h"

#include <algorithm>

#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// The innermost branch that a node is in.
std::optional<std::pair<ValueId, int32_t>> branch_around(const Graph& graph, const Node& node) {
  for (SpaceId space = place_of(graph, node); space != kNone; space = graph.space(space).parent)
    if (const CellSpace& s = graph.space(space); s.kind == SpaceKind::routed && s.branch != kAllBranches)
      return {{s.decision, s.branch}};
  return {};
}

}  // namespace

std::optional<PartPlace> part_place(const Program& program, const Step& step, size_t input) {
  const Graph& graph = *program.graph;
  const Node& node = graph.node(step.node);
  std::optional<std::pair<ValueId, int32_t>> at;
  if (const std::optional<int32_t> branch = branch_of_input(node, input)) {
    at = {sends_by(graph, node), *branch};
  } else {
    at = branch_around(graph, node);
  }
  if (!at) return {};
  // Cells that arrived from other ranks go where the router of their rank sent them.
  ValueId chosen = at->first;
  while (graph.value(chosen).producer != kNone && has_role(graph.node(graph.value(chosen).producer), Role::exchange))
    chosen = graph.node(graph.value(chosen).producer).inputs[0];
  const auto decides = [&](const ProgramRouter& r) { return program.operands[r.decision].value == chosen; };
  const auto router = std::find_if(program.routers.begin(), program.routers.end(), decides);
  if (router == program.routers.end()) return {};
  const BranchGroup group{router->name, at->second};
  if (chosen == at->first) return PartPlace{router->decision, group};
  const auto tells = [&](const Operand& o) { return o.is_decision && o.value == at->first; };
  const auto decision = std::find_if(program.operands.begin(), program.operands.end(), tells);
  if (decision == program.operands.end()) return {};
  return PartPlace{OperandId(decision - program.operands.begin()), group};
}

}  // namespace stormcell
