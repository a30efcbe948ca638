#include "core/runtime/branches_computed.h"

#include "core/graph/roles.h"

namespace stormcell {

std::optional<std::vector<int64_t>> branches_computed(const KernelBuildContext& m) {
  const Graph& g = m.graph();
  const Attributes& attributes = m.node().attributes;
  if (attributes.has("branches")) return attributes.list("branches");
  if (m.type(0).space == kNone || g.space(m.type(0).space).branch != kAllBranches) return {};
  const ValueId decision = g.space(m.type(0).space).decision;
  NodeId producer = m.value(0).producer;
  while (producer != kNone) {
    const Node& n = g.node(producer);
    // Another decision sends within a slot, or above all slots, and says nothing of these branches.
    if (sends_by(g, n) == decision) {
      if (has_role(n, Role::grouped)) return n.attributes.list("branches");
      return {};
    }
    if (n.inputs.empty() || has_role(n, Role::exchange)) return {};  // computed by all ranks
    producer = g.value(n.inputs[0]).producer;
  }
  return {};
}

}  // namespace stormcell
