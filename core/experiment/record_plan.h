// From executions to what sessions record: layouts, one record a forward pass, one a turn of decoding.
#pragma once
#include <cstdint>
#include <vector>

#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/profile/record.h"
#include "core/runtime/named_routers.h"

namespace stormcell {

/// What stays the same over the batches of a run of `program`: cell spaces, routers, steps.
struct RecordPlan {
  RunLayout layout;                  ///< its routers are the named ones
  NamedRouters routers;              ///< each behind those whose cells come to it
  std::vector<SpaceId> spaces;       ///< by recorded space: the graph's, outside of repeats; kNone: nothing is decided there
  std::vector<SpaceId> turn_spaces;  ///< by recorded space: the graph's within a repeat; kNone: nothing is decided there
  std::vector<int32_t> columns;      ///< by recorded space: of the grid that its cells lie in; 0: they lie in a sequence
  std::vector<bool> in_repeat;       ///< by step
  bool has_turns() const;            ///< routers decide in turns: each turn is a record of its own
};
RecordPlan record_plan(const Program& program);

struct RecordOptions {
  bool decisions = false;  ///< the session stores each of them, not only their sums
  bool inputs = false;
  bool scores = false;  ///< and the margins between them
};

/// Fills a record from an execution but for its number. `record` comes cleared from the recorder. Of a program with turns: all but what its
/// turns did.
void fill_record(const RecordPlan& plan, const Program& program, const Batch& batch, const Bindings& bindings,
                 const ExecutionResult& result, RecordOptions options, BatchRecord& record);

/// One turn of decoding: the cell that it adds to each sequence.
struct DecodedTurn {
  int32_t turn = 0;
  int32_t position = 0;                ///< of the cell in its sequence; of a decoder that reads the input itself behind that
  std::vector<int32_t> token;          ///< [sequences] what the turn read
  std::vector<int32_t> is_going;       ///< [sequences] 0: the sequence had ended, its cell is padding
  size_t first_event = 0, events = 0;  ///< among the result's
};
/// `generated` is the model's output [sequences, most], -1 behind each sequence's end.
std::vector<DecodedTurn> decoded_turns(const Model& model, const RecordPlan& plan, const Program& program, const Batch& batch,
                                       const ExecutionResult& result, const std::vector<int32_t>& generated, int64_t most);
void fill_turn(const RecordPlan& plan, const Program& program, const Batch& batch, const Bindings& bindings, const DecodedTurn& turn,
               const ExecutionResult& result, RecordOptions options, BatchRecord& record);

}  // namespace stormcell
