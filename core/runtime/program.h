// A program is what a device runs: a flat list of steps over planned memory. Conditions (absent branches, guards,
// repeats) are steps that the device decides itself. Nothing within a segment (segments.h) needs the host. A submission
// may end only at the end of a segment, for missing weights or rows of other ranks. The next submission continues
// there.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/id_vector.h"
#include "core/cell/decision.h"
#include "core/graph/graph.h"

namespace stormcell {

// Places in a program's lists. Steps are plain numbers: they are counted, compared, jumped over.
using OperandId = Id<struct OperandTag>;
using BufferId = Id<struct BufferTag>;
using DimId = Id<struct DimTag>;
using RouterId = Id<struct RouterTag>;
using GuardId = Id<struct GuardTag>;
using RepeatId = Id<struct RepeatTag>;

enum class BufferKind : uint8_t {
  arena,   ///< planned scratch memory, reused by liveness
  input,   ///< bound at submission
  weight,  ///< lies in the weight store
  state,   ///< outlives the steps; never overlaid
  paged,   ///< a state of sequences, in pages that the submission brings (state_store.h)
};

/// One planned piece of memory.
struct ProgramBuffer {
  std::string name;
  BufferKind kind = BufferKind::arena;
  Dim bytes;                    ///< bytes at the submission's extents
  int32_t first = 0, last = 0;  ///< steps between which it is live (arena)
};

/// A value as steps see it: its place and its number of rows. The number is an extent, or the device takes it from a
/// decision or a ragged value; dense cells below those have a fixed multiple of it. If the buffer of a routed value
/// holds all slots of the decision, the value is the slice of its branch. Otherwise it begins where its buffer does.
struct Operand {
  ValueId value = kNone;
  BufferKind kind = BufferKind::arena;
  BufferId buffer;           ///< kNone: a weight
  DType dtype = DType::f32;  ///< format in which it lies
  DimId rows;                ///< kNone: one row (no cells)
  OperandId decision;        ///< routed: the decision that gives its rows, and its start if in_slots
  int32_t branch = kAllBranches;
  bool in_slots = false;     ///< the buffer holds all slots of the decision
  OperandId ragged;          ///< over ragged cells: the ragged value; with a decision: the members of its branch
  DimId times;               ///< dense cells below routed or ragged ones: how many each of those has
  int32_t paged_index = -1;  ///< paged: its index in Program::paged
  DimId per_parent;          ///< over a dense space: cells of one parent
  int64_t width = 1;         ///< elements of one row
  bool is_decision = false, is_ragged = false;
  DimId ragged_parents, ragged_cells;  ///< a ragged value: its bounds
  DimId decision_cells;                ///< a decision: its bound on cells
  int32_t branches = 0, fan_out = 0;
  int64_t row_bytes() const { return width * static_cast<int64_t>(element_size(dtype)); }
};

enum class StepKind : uint8_t {
  kernel,  ///< computes an operator; if that exchanges rows between ranks: puts the rows that arrived in their places
  send,    ///< begins such an exchange: collects the rows for each rank, and ends the submission with `exchange`
  copy,    ///< copies operand inputs[0] to outputs[0], whole buffers; of states in pages: the pages that are there
  save_rows,     ///< copies the rows of state inputs[0] that put step `node` will overwrite to outputs[0]: those from
                 ///< the places inputs[1] on; without inputs[1] from place 0 on
  restore_rows,  ///< copies them back: inputs[0] to state outputs[0]
  skip_empty,    ///< jump to target when `branch` of decision inputs[0] got no cell; decisions and ragged cells
                 ///< `outputs`, made in between, become empty
  guard,         ///< jump to target (the fallback) when scalar inputs[0] is 0; counts a hit or a miss
  need_weights,  ///< end the submission with `needs_weights` unless the weights of `guard` are loaded
  jump,          ///< to target
  repeat_begin,  ///< resets the turn counter of `repeat`
  repeat_end,    ///< jump to target unless scalar inputs[0] is not 0 or `most` turns are done
  record,        ///< copy decision inputs[0] of `router` to the record area
};
std::string_view to_text(StepKind kind);

struct Step {
  StepKind kind = StepKind::kernel;
  NodeId node = kNone;
  std::vector<OperandId> inputs, outputs;
  int32_t target = -1;  ///< step to jump to
  int32_t branch = -1;  ///< skip_empty
  GuardId guard;        ///< guard, need_weights
  RepeatId repeat;      ///< repeat_begin, repeat_end
  RouterId router;      ///< record
  DimId most;           ///< repeat_begin, repeat_end
  GuardId fallback;     ///< the guard whose fallback it belongs to
};

struct ProgramRouter {
  NodeId node = kNone;
  std::string name;
  OperandId decision;
  SpaceId dense_space = kNone;  ///< the dense space whose cells the decision's cells are
  DimId executions;             ///< most executions in one submission (turns of a repeat)
  RepeatId repeat;              ///< the repeat that it is in, if any
  DimId dense_cells;            ///< cells of the dense space
  bool by_row = true;  ///< a row of the dense space names a cell of the decision: replayed choices are found by it
};

struct ProgramGuard {
  NodeId node = kNone;
  std::string name;
  std::string pass;  ///< the pass that put it there; empty: the model itself
};
struct ProgramRepeat {
  NodeId node = kNone;
  DimId most;  ///< turns
};

/// One rank's program.
struct Program {
  std::shared_ptr<const Graph> graph;
  IdVector<DimId, Dim> dims;  ///< every extent that a step needs, once
  IdVector<BufferId, ProgramBuffer> buffers;
  IdVector<OperandId, Operand> operands;
  IdVector<int32_t, Step> steps;
  std::vector<ValueId> weights;
  IdVector<RouterId, ProgramRouter> routers;
  IdVector<GuardId, ProgramGuard> guards;
  IdVector<RepeatId, ProgramRepeat> repeats;
  std::vector<OperandId> raggeds;  ///< operand of each ragged value
  std::vector<OperandId> paged;    ///< operand of each state in pages
  int32_t ranks = 0;               ///< number of ranks that its exchanges connect; 0: none, it runs alone
  OperandId places;  ///< the state that holds how many rows each sequence has; kNone: no state lies in pages
  std::vector<OperandId> inputs;   ///< operand of each graph input, in value order
  std::vector<OperandId> outputs;  ///< operand of each graph output

  const Operand& decision_of(const ProgramRouter& router) const { return operands[router.decision]; }
  /// The rows for which choices of one execution are replayed, those of the dense space where a row of it names a cell.
  DimId replayed_rows(const ProgramRouter& router) const {
    return router.by_row ? router.dense_cells : decision_of(router).decision_cells;
  }
};

}  // namespace stormcell
