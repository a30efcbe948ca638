// Choices that routers are given instead of their own, from a file in the form that run --outputs writes.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/cell/intervention.h"
#include "core/data/dataset.h"
#include "core/graph/graph.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// Holds a tensor b{i}.ROUTER.branch [cells, k] of i32 for each batch and router that is forced; a router within a
/// branch has b{i}.ROUTER.cell [cells] beside it. A choice of -2 is not forced. A choice of -1 is no branch. For a
/// router with capacity the cell then decides itself, because the file does not say which branch dropped it.
class ForcedChoices {
 public:
  /// [dense cells, k] a branch, kNoBranch or kNotRecorded; by router.
  using OfBatch = std::map<std::string, std::vector<int32_t>, std::less<>>;

  /// Reads and checks all of the intervention's file for the graph that runs. Throws Error(bad_input) that names it.
  ForcedChoices(const Intervention& intervention, const Graph& graph, const Dataset& data);

  const std::string& file() const { return file_; }
  /// The choices for the batch of this number; empty if nothing of it is forced.
  const OfBatch& choices(int64_t batch) const;
  /// The same as a program replays them.
  ReplayedDecisions of(const Batch& batch, const Program& program) const;
  /// Routers that are forced in some batch, by name.
  std::vector<std::string> routers() const;

 private:
  std::string file_;
  std::map<int64_t, OfBatch> batches_;
};

}  // namespace stormcell
