// How cells go on from router to router, as plain values for views.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/readings/session_view.h"

namespace stormcell {

/// Counts of pairs: (branch of one router, branch of the next), or two branches that one cell got from the same router.
struct BranchPairs {
  struct Entry {
    int32_t from = 0, to = 0;
    int64_t count = 0;
    bool beyond = false;  ///< more often than chance has it, if the pairs are judged
    bool rarer = false;   ///< more rarely, likewise
  };
  int32_t rows = 0, columns = 0;
  std::vector<Entry> entries;      ///< most cells first; where `left_out` > 0 not all of them
  int64_t total = 0;               ///< sum over all pairs
  int64_t pairs = 0;               ///< how many different ones there are
  bool judged = false;             ///< entries say whether they are beyond chance, as analyze has it
  std::vector<Entry> absent = {};  ///< pairs that no cell took, although chance has them; of `transitions` and `together`
  int64_t left_out() const { return pairs - std::ssize(entries); }
};

/// Cells of a router that go to another with no router between.
struct FlowEdge {
  int32_t to = -1;  ///< index of that router
  /// only cells of some branches go there: those of the others meet another router first, or none
  bool partial = false;
  BranchPairs pairs;  ///< the strongest `most_pairs` of them
};
/// A router on the way of cells.
struct FlowRouter {
  RouterLine line;
  std::vector<FlowEdge> next;  ///< in the order in which cells meet them; empty: none
};
/// The pairs that are wanted whole: those of a router with itself and with a next one.
struct FlowFocus {
  /// one without a next is replaced by the first that leads to it; empty: the first one that has a next
  std::string router;
  std::string next;  ///< empty, or not next to `router`: the first that is
};
struct RoutingFlow {
  int64_t run = 0, batches = 0;
  int64_t first_batch = 0, end_batch = 0;  ///< batches that were counted
  std::vector<FlowRouter> routers;         ///< all of the run, in the order in which cells meet them
  /// The router that was asked for, with all its pairs.
  int32_t router = -1;
  int32_t next = -1;  ///< index of the router that `transitions` lead to, -1: none
  BranchPairs transitions, together;
};
/// Outside of the focus it has the strongest `most_pairs`. `phase`: only its batches; empty: all.
std::shared_ptr<const RoutingFlow> read_routing_flow(const std::string& file, int64_t run, BatchRange range,
                                                     const FlowFocus& focus, int64_t most_pairs,
                                                     const Progress& progress = {}, const std::string& phase = {});

}  // namespace stormcell
