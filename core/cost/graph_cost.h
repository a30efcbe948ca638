// Closed-form cost of a graph: operations and bytes of each operator, and the time below which no machine with these
// ceilings can run it.
#pragma once
#include <optional>
#include <vector>

#include "core/graph/branch_shares.h"
#include "core/graph/operator.h"

namespace stormcell {

/// Upper limits of the machine, with all threads together, per second.
struct MachineCeilings {
  double f32_flops = 0;
  double bf16_flops = 0;
  double read_bytes = 0;
};

/// The case that is costed.
struct CostCase {
  Bindings bindings;
  BranchShares shares;          ///< recorded mean loads, or alike for all
  std::optional<double> turns;  ///< mean turns of repeats; without, as many as they may take
  double guard_hits = 1;        ///< the part of guards whose predicate holds
};

struct NodeCost {
  NodeId node = kNone;
  double times = 1;      ///< number of runs: turns of its repeats, chance of its guard's body
  double rows = 0;       ///< of its output (or, without one, of its first input), once
  Cost cost;             ///< of all times together
  bool is_bf16 = false;  ///< its product's weights are bf16, and it may round its input to them
  double seconds(const MachineCeilings& machine) const;
};

struct GraphCost {
  std::vector<NodeCost> nodes;  ///< in running order
  Cost total;
  double cells = 0;  ///< cells of all spaces that routers decide over; without routers, of the first input

  /// The limit of a plan: sum over operators of max(bytes / read bandwidth, FLOP / peak of the number format).
  double limit_seconds(const MachineCeilings& machine) const;
  double flops_per_cell() const { return cells > 0 ? total.flops / cells : 0; }
};

GraphCost cost_of(const Graph& graph, const CostCase& of);

}  // namespace stormcell
