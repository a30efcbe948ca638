// From a batch of data to what a graph asks for: values of its symbols and of its inputs.
#pragma once
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

}  // namespace stormcell
