// Makes a batch of data into what a graph asks for: values of its symbols and of its inputs.
#pragma once
#include <map>
#include <span>
#include <string>

#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/oracle/oracle.h"
#include "core/passes/pass.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// Values of the graph's symbols for one batch.
Bindings bindings_of(const Graph& graph, const Batch& batch, int64_t new_tokens);
/// Largest values over a dataset; for pictures of one size, over the batches of that size.
Bindings bounds_of(const Graph& graph, const Dataset& data, int64_t new_tokens, PictureSize size = {});
/// Token ids in the cells of a space, a decoder's too; empty where it holds none.
std::span<const int32_t> tokens_over(const Graph& graph, SpaceId space, const Batch& batch);
/// The mask of a space: which cells of a batch are real; empty: all are. Cells below those of the data are as real as
/// the cell that they are part of. `bindings`: those of the batch.
std::vector<int32_t> mask_over(const Graph& graph, SpaceId space, const Batch& batch, const Bindings& bindings);
/// Cells of dense spaces that `plan` computes where `reference` computes all: by the space's name, 1 for each row that
/// is left. A row is left out if a given mask leaves it out of the plan alone. Cells that the model itself compacts are
/// compacted in both. Throws Error(failed) if the batch has no such mask or one of another size.
std::map<std::string, std::vector<int32_t>> computed_cells(const Graph& plan, const Graph& reference,
                                                           const Batch& batch);
/// Facts about the data's masks, by the masks' names.
std::map<std::string, MaskFacts, std::less<>> mask_facts(const Graph& graph, const Dataset& data);
/// All that the batch brings, by the inputs' names, as the executor takes it.
InputValues inputs_of(const Batch& batch);
/// The same, and the inputs of the graph that follow from which items they are.
InputValues inputs_of(const Graph& graph, const Batch& batch);
/// The inputs that the graph asks for, as the oracle takes them.
OracleInputs<float> oracle_inputs(const Graph& graph, const Batch& batch);

}  // namespace stormcell
