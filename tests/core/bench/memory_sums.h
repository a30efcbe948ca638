// Sums of memory as one number, for a device that shares the host's memory.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/bench/memory_check.h"

namespace stormcell::testing {

/// Bytes that graphs take of one memory (memory_need()).
inline int64_t memory_needed(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs,
                             FallbackWeights fallbacks = FallbackWeights::spared) {
  return memory_need(device, store, graphs, fallbacks).shared;
}
inline int64_t memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Graph> graph,
                             const CompileOptions& options) {
  return memory_needed(device, store, {PlannedGraph{std::move(graph), options}});
}
/// Bytes that one more plan takes of one memory (further_memory_need()).
inline int64_t further_memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Program> program,
                                     const CompileOptions& options) {
  return further_memory_need(device, store, std::move(program), options).shared;
}

}  // namespace stormcell::testing
