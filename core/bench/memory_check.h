// Whether a graph fits into memory, asked before anything is allocated.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/weight_store.h"

namespace stormcell {

/// A graph, and the largest batches that it is to run.
struct PlannedGraph {
  std::shared_ptr<const Graph> graph;
  CompileOptions options;
};

/// What guards leave to their fallbacks is loaded only where one misses.
enum class FallbackWeights : uint8_t { spared, loaded };

/// Bytes that running and verifying `graph` will take beyond what is held already: weights in the layouts and formats in which the device
/// will hold them, those that `store` has loaded left out, and those of nothing but fallbacks; activations, states, scratch and records at
/// the bounds of `options`; inputs; outputs and values as the oracle has them beside them; what is held while a weight is read, at most:
/// its tensor, and those that a recipe makes it from, under a budget for each thread that reads.
int64_t memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Graph> graph, const CompileOptions& options);
/// The same of graphs of one model that are held together and run one at a time, for pictures of several sizes: weights once, states of
/// all, the rest as the graph that takes most of it.
int64_t memory_needed(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs,
                      FallbackWeights fallbacks = FallbackWeights::spared);

/// Throws Error(bad_input) that names `what` where more is needed than the `available` bytes; it advises --dtype bf16 where that would fit,
/// and the largest --weight-budget that would. Returns how rows have to be sent: as the graphs' options say, or copied where only so it
/// fits.
SentRows check_memory(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs, int64_t available,
                      const std::string& what);

/// Bytes that one more plan takes beside those it shares `options.memory` with: its states, weights that nobody has loaded, and what its
/// activations and records need beyond what is shared already.
int64_t further_memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Program> program, const CompileOptions& options);
/// Throws Error(bad_input) that names `what` and the plan where they are more than the `available` bytes. Returns as check_memory() does.
SentRows check_further_plan(Device& device, WeightStore& store, std::shared_ptr<const Program> program, const CompileOptions& options,
                            int64_t available, const std::string& plan, const std::string& what);

}  // namespace stormcell
