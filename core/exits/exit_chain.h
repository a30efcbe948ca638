// A network with exits: a chain of routers that let items answer early, and the cost of answering at each.
//
// This room answers all questions about early exits: their costs, the items that they take, the quality of their
// answers at each threshold, and the thresholds that meet a target.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell/protocol.h"
#include "core/graph/graph.h"
#include "core/models/model.h"

namespace stormcell {

/// A router at which items may answer.
struct ExitTest {
  std::string router;
  Protocol rule;
};

struct ExitChain {
  std::vector<ExitTest> tests;  ///< in running order
  /// Operations of an item that answers at each exit, and behind the last router, as a share of those through the whole
  /// network.
  std::vector<double> costs;
  double whole = 0;  ///< those operations, every symbol of the graph 1; other sizes of pictures have others, and
                     ///< slightly other shares

  /// The number of the test that this router is; empty: it is none.
  std::optional<size_t> test_of(std::string_view router) const;
  /// Names, in running order.
  std::vector<std::string> routers() const;
};

/// Empty unless the graph is a chain: its routers are all exits of one chain, each on the items that the one before let
/// go on, and they decide by the answers (TaskAnswer) themselves.
std::optional<ExitChain> exit_chain(const Graph& graph, const TaskAnswer& answer);

}  // namespace stormcell
