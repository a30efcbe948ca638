// A network with exits: a chain of routers that let items answer early, and what it costs to answer at each.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/cell/protocol.h"
#include "core/graph/graph.h"
#include "core/models/model.h"

namespace stormcell {

struct ExitChain {
  std::vector<std::string> routers;  ///< names, in running order
  std::vector<Protocol> rules;       ///< of each
  /// Operations of an item that answers at each exit, and behind the last router, as a share of those through the whole network.
  std::vector<double> costs;
  double whole = 0;  ///< those operations; other sizes of pictures have others, and slightly other shares
};

/// Nothing where the graph is none: its routers are all exits of one chain, each about the items that the one before let go on, and what
/// they decide by are the answers (TaskAnswer) themselves.
std::optional<ExitChain> exit_chain(const Graph& graph, const TaskAnswer& answer);

}  // namespace stormcell
