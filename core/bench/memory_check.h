// Whether a graph fits into memory, asked before anything is allocated.
#pragma once
#include <memory>
#include <optional>
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

/// Weights that only fallbacks read are loaded when a guard misses.
enum class FallbackWeights : uint8_t { spared, loaded };

/// Bytes that are needed of each memory.
struct MemoryNeed {
  int64_t device = 0, host = 0;
  /// of one memory that serves as both: at most the sum, because the two need not be at their most together
  int64_t shared = 0;
};

/// Bytes that there are of each memory.
struct MemoryRoom {
  int64_t host = 0;
  std::optional<int64_t> device;  ///< nothing: the device shares the host's
  MemoryRoom(int64_t of_host, std::optional<int64_t> of_device = {}) : host(of_host), device(of_device) {}

  bool holds(const MemoryNeed& need) const {
    return device ? need.device <= *device && need.host <= host : need.shared <= host;
  }
  /// The room with so many bytes more for the device.
  MemoryRoom with_more(int64_t bytes) const {
    return device ? MemoryRoom(host, *device + bytes) : MemoryRoom(host + bytes);
  }
};
/// The memory that this process and the device may still take.
MemoryRoom memory_room(const Device& device);

/// Bytes that running and verifying these graphs will take beyond what is held already. The graphs run one at a time,
/// so weights count once, states of all count, and the rest counts for the graph that takes most of it.
///
/// Device: weights that `store` has not loaded, in the layouts and formats of the device; activations, states, scratch
/// and records at the bounds of `options`; inputs. Weights that only fallbacks read count with FallbackWeights::loaded.
///
/// Host: inputs; outputs; the values of the oracle; for a device with memory of its own, pinned memory for copies of
/// inputs and records; the largest tensor that is held while a weight is read, with the tensors that a recipe makes it
/// from, for each reading thread under a budget.
MemoryNeed memory_need(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs,
                       FallbackWeights fallbacks = FallbackWeights::spared);

/// Throws Error(bad_input) that names `what` if the device's memory or the host's is too small; it advises --dtype bf16
/// if that would fit, and the largest --weight-budget that would. Returns how rows have to be sent: as the graphs'
/// options say, or copied if it fits only so.
SentRows check_memory(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs,
                      const MemoryRoom& room, const std::string& what);

/// The memory that one more plan takes beside those with the same `options.memory`: its states, weights that nobody has
/// loaded, and the part of its activations and records that exceeds what is shared already.
MemoryNeed further_memory_need(Device& device, WeightStore& store, std::shared_ptr<const Program> program,
                               const CompileOptions& options);
/// Throws Error(bad_input) that names `what` and the plan if that is more than there is room for. Returns as
/// check_memory() does.
SentRows check_further_plan(Device& device, WeightStore& store, std::shared_ptr<const Program> program,
                            const CompileOptions& options, const MemoryRoom& room, const std::string& plan,
                            const std::string& what);

}  // namespace stormcell
