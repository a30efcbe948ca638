// Choices that routers are given instead of their own, from a file in the form that run --outputs writes.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell/intervention.h"
#include "core/data/dataset.h"
#include "core/graph/graph.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// Holds a tensor b{i}.ROUTER.branch [cells, k] of i32 for each batch and router that is forced; a router within a
/// branch has b{i}.ROUTER.cell [cells] beside it. In decoding b{i}.ROUTER.turns [sequences, turns, k] forces a router
/// that decides in each turn, and `branch` the one of the prompt. A choice of -2 is not forced. A choice of -1 is no
/// branch; of routers with capacity, whose files do not tell which branch dropped the cell, the cell decides itself.
class ForcedChoices {
 public:
  /// Choices by router and execution, in order: [dense cells, k] a branch, kNoBranch or kNotRecorded. An empty one, and
  /// each behind the last, is not forced. In decoding the prompt's execution comes first, if the router has one.
  using OfBatch = std::map<std::string, std::vector<std::vector<int32_t>>, std::less<>>;

  /// Reads and checks all of the intervention's file for the graph that runs. `new_tokens`: of each sequence, in
  /// decoding. Throws Error(bad_input) that names it.
  ForcedChoices(const Intervention& intervention, const Graph& graph, const Dataset& data, int64_t new_tokens = 0);

  const std::string& file() const { return file_; }
  /// The choices for the batch of this number; empty if nothing of it is forced.
  const OfBatch& choices(int64_t batch) const;
  /// True if this execution of the router is forced.
  bool forces(int64_t batch, std::string_view router, int64_t execution) const;
  /// The same as a program replays them.
  ReplayedDecisions of(const Batch& batch, const Program& program, const Bindings& bindings) const;
  /// Routers that are forced in some batch, by name.
  std::vector<std::string> routers() const;

 private:
  std::string file_;
  bool decodes_;  ///< else each execution of a router has its first choices
  std::map<int64_t, OfBatch> batches_;
  std::set<std::string, std::less<>> of_prompt_;  ///< routers that decide outside of turns
};

}  // namespace stormcell
