// One plan ready to run on a device, and the bridge from data to graph inputs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/profile/record.h"
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

/// What stays the same over the batches of a run of `program`: cell spaces, routers, steps.
struct RecordPlan {
  RunLayout layout;
  std::vector<SpaceId> spaces;         ///< graph space of each recorded space
  std::vector<int32_t> space_of;       ///< by program router: index into spaces
};
RecordPlan record_plan(const Program& program);
/// Fills a record from an execution. `record` comes cleared from the recorder.
void fill_record(const RecordPlan& plan, const Program& program, const Batch& batch, const Bindings& bindings, const ExecutionResult& result,
                 bool decisions, bool inputs, bool margins, BatchRecord& record);

/// Bytes this process may still take: the smaller of the machine's available memory and the control group's rest.
int64_t available_memory();
/// Largest resident set of this process so far.
int64_t peak_resident_memory();

}  // namespace stormcell
