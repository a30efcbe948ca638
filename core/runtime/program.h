// What a device runs: a flat list of steps over planned memory. Conditions (absent branches, guards, repeats) are steps that the
// device decides itself; nothing in a program needs the host between its first and its last step.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/id_vector.h"
#include "core/cell/decision.h"
#include "core/graph/graph.h"

namespace stormcell {

enum class BufferKind : uint8_t {
  arena,   ///< planned scratch memory, reused by liveness
  input,   ///< bound at submission
  weight,  ///< in the weight store
  state,   ///< outlives the steps; never overlaid
  paged,   ///< a state of sequences, in pages that the submission brings (state_store.h)
};

/// One planned piece of memory.
struct ProgramBuffer {
  std::string name;
  BufferKind kind = BufferKind::arena;
  Dim bytes;                    ///< at the submission's extents
  int32_t first = 0, last = 0;  ///< steps between which it is live (arena)
};

/// A value as steps see it: where it lies and how many rows it has. Rows are an extent; or, on the device, a decision's or a ragged
/// value's, and a fixed multiple of those for dense cells below. Where the buffer of a routed value holds all slots of the decision, the
/// value is the slice of its branch; else it begins where its buffer does.
struct Operand {
  ValueId value = kNone;
  BufferKind kind = BufferKind::arena;
  int32_t buffer = -1;       ///< arena, input, state, paged: index into buffers; weight: index into Program::weights
  DType dtype = DType::f32;  ///< in which it lies
  int32_t rows = -1;         ///< index into Program::dims; -1: one row (no cells)
  int32_t decision = -1;     ///< routed: operand of the decision that gives rows, and start where in_slots
  int32_t branch = kAllBranches;
  bool in_slots = false;    ///< the buffer holds all slots of the decision
  int32_t ragged = -1;      ///< over ragged cells: operand of the value that tells them; with a decision, the members of its branch
  int32_t times = -1;       ///< dense cells below routed or ragged ones: index into dims, cells of each of those
  int32_t slot = -1;        ///< paged: index into Program::paged
  int32_t per_parent = -1;  ///< over a dense space: index into dims, cells of one parent
  int64_t width = 1;        ///< elements of one row
  bool is_decision = false, is_ragged = false;
  int32_t ragged_parents = -1, ragged_cells = -1;  ///< a ragged value: indices into dims of its bounds
  int32_t decision_cells = -1;                     ///< a decision: index into dims of its bound on cells
  int32_t branches = 0, fan_out = 0;
  int64_t row_bytes() const { return width * static_cast<int64_t>(element_size(dtype)); }
};

enum class StepKind : uint8_t {
  kernel,        ///< an operator
  copy,          ///< operand inputs[0] to outputs[0], whole buffers; of states in pages the pages that are there
  save_rows,     ///< the rows of state inputs[0] that put step `node` is about to write, from the places inputs[1] on (0 without), to
                 ///< outputs[0]
  restore_rows,  ///< and back: inputs[0] to state outputs[0]
  skip_empty,    ///< jump to target when `branch` of decision inputs[0] got no cell; decisions and ragged cells `outputs`, made in between,
                 ///< become empty
  guard,         ///< jump to target (the fallback) when scalar inputs[0] is 0; counts a hit or a miss
  need_weights,  ///< end the submission with `needs_weights` unless the weights of guard `index` are loaded
  jump,          ///< to target
  repeat_begin,  ///< resets the turn counter of repeat `index`
  repeat_end,    ///< jump to target unless scalar inputs[0] is not 0 or `most` turns are done
  record,        ///< copy decision inputs[0] of router `index` to the record area
};
std::string_view to_text(StepKind kind);

struct Step {
  StepKind kind = StepKind::kernel;
  NodeId node = kNone;
  std::vector<int32_t> inputs, outputs;  ///< operands
  int32_t target = -1;                   ///< step to jump to
  int32_t branch = -1;                   ///< skip_empty
  int32_t index = -1;                    ///< guard, repeat, router
  int32_t most = -1;                     ///< repeat_begin, repeat_end: index into dims
  int32_t fallback = -1;                 ///< the guard whose fallback it belongs to, -1: none
};

struct ProgramRouter {
  NodeId node = kNone;
  std::string name;
  int32_t decision = -1;        ///< operand
  SpaceId dense_space = kNone;  ///< the dense space whose cells the decision's cells are
  int32_t executions = -1;      ///< index into dims: most executions in one submission (turns of a repeat)
  int32_t repeat = -1;          ///< the repeat it stands in, or -1
  int32_t dense_cells = -1;     ///< index into dims: cells of the dense space
  bool by_row = true;           ///< a row of the dense space names a cell of the decision: replayed choices are found by it
};

struct ProgramGuard {
  NodeId node = kNone;
  std::string name;
  std::string pass;  ///< the pass that put it there; empty: the model itself
};
struct ProgramRepeat {
  NodeId node = kNone;
  int32_t most = -1;  ///< index into dims
};

/// One rank's program.
struct Program {
  std::shared_ptr<const Graph> graph;
  IdVector<Dim> dims;  ///< every extent that a step needs, once
  IdVector<ProgramBuffer> buffers;
  IdVector<Operand> operands;
  IdVector<Step> steps;
  std::vector<ValueId> weights;
  IdVector<ProgramRouter> routers;
  IdVector<ProgramGuard> guards;
  IdVector<ProgramRepeat> repeats;
  std::vector<int32_t> raggeds;  ///< operand of each ragged value
  std::vector<int32_t> paged;    ///< operand of each state in pages
  int32_t places = -1;           ///< operand of the state that holds how many rows each sequence has; -1: no state lies in pages
  std::vector<int32_t> inputs;   ///< operand of each graph input, in value order
  std::vector<int32_t> outputs;  ///< operand of each graph output

  const Operand& decision_of(const ProgramRouter& router) const { return operands[router.decision]; }
  /// Index into dims: the rows for which choices of one execution are replayed, those of the dense space where a row of it names a cell.
  int32_t replayed_rows(const ProgramRouter& router) const {
    return router.by_row ? router.dense_cells : decision_of(router).decision_cells;
  }
  /// One line a step, for people and goldens.
  std::string to_text() const;
};

}  // namespace stormcell
