// One plan ready to run on a device, and the bridge from data to graph inputs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// Values of the graph's symbols for one batch.
Bindings bindings_of(const Graph& graph, const Batch& batch, int64_t new_tokens);
/// Largest values over a dataset.
Bindings bounds_of(const Graph& graph, const Dataset& data, int64_t new_tokens);
/// Ids and masks by the inputs' names.
InputValues inputs_of(const Batch& batch);

/// The stored weights in another number format: what `--dtype` asks for. Integers and what is small (norms) stay as they are.
struct ConvertedModel {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const WeightSource> weights;
};
ConvertedModel convert_weights(std::shared_ptr<const Graph> graph, std::shared_ptr<const WeightSource> weights, DType to);

/// Bytes this process may still take: the smaller of the machine's available memory and the control group's rest.
int64_t available_memory();
/// Largest resident set of this process so far.
int64_t peak_resident_memory();
/// The peak counts from here on, where the system allows it.
void reset_peak_resident_memory();

}  // namespace stormcell
