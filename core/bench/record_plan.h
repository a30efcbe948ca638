// Makes executions into what sessions record: layouts, one record a forward pass, one a turn of decoding.
#pragma once
#include <cstdint>
#include <vector>

#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/profile/record.h"
#include "core/runtime/named_routers.h"
#include "core/session/kept_pictures.h"

namespace stormcell {

/// A cell space as it is recorded: the same cells before and within turns.
struct RecordedSpace {
  SpaceId space = kNone;       ///< the graph's, outside of repeats; kNone: nothing is decided there
  SpaceId turn_space = kNone;  ///< within a repeat
  int32_t columns = 0;         ///< columns of the grid that its cells lie in; 0: they lie in a sequence
};

/// Cell spaces, routers and steps, which stay the same over the batches of a run of `program`.
struct RecordPlan {
  RunLayout layout;                   ///< its routers are the named ones
  NamedRouters routers;               ///< each behind those whose cells come to it
  std::vector<RecordedSpace> spaces;  ///< those of the layout
  std::vector<bool> in_repeat;        ///< by step
  bool has_turns() const;             ///< routers decide in turns: each turn is a record of its own
};
RecordPlan record_plan(const Program& program);

struct RecordOptions {
  bool decisions = false;  ///< the session stores each of them, not only their sums
  bool inputs = false;
  bool scores = false;  ///< and the margins between them
  /// pictures that the session has kept so far; a picture that it would not keep is not made; null: it keeps none
  KeptPictures* pictures = nullptr;
};

/// One batch as a plan ran it.
struct Executed {
  const RecordPlan& plan;
  const Program& program;
  const Batch& batch;
  const Bindings& bindings;
  const ExecutionResult& result;
};

/// Fills a record from an execution, except its number. `record` comes cleared from the recorder. The turns of a
/// program are left to fill_turn().
void fill_record(const Executed& executed, RecordOptions options, BatchRecord& record);

/// One turn of decoding: the cell that it adds to each sequence.
struct DecodedTurn {
  int32_t turn = 0;
  std::vector<int32_t> position;       ///< [sequences] of the cell in its sequence
  std::vector<int32_t> token;          ///< [sequences] what the turn read
  std::vector<int32_t> is_going;       ///< [sequences] 0: the sequence had ended, its cell is padding
  size_t first_event = 0, events = 0;  ///< among the result's
};
/// [sequences] position of the cell that turn 0 adds: behind the last real cell of the sequence's row where the decoder
/// reads the input itself, else 0.
std::vector<int32_t> first_positions(const Model& model, const Batch& batch);
/// `generated` is the model's output [sequences, most], -1 behind each sequence's end.
std::vector<DecodedTurn> decoded_turns(const Model& model, const Executed& executed,
                                       const std::vector<int32_t>& generated, int64_t most);
void fill_turn(const Executed& executed, const DecodedTurn& turn, RecordOptions options, BatchRecord& record);

}  // namespace stormcell
