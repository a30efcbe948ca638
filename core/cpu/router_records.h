// Decisions on their way out and in: what record steps leave of them, and the choices that a submission replays.
#pragma once
#include <vector>

#include "core/base/id_vector.h"
#include "core/cpu/cell_chain.h"
#include "core/cpu/operands.h"

namespace stormcell::cpu {

/// An execution of a router: its index in the program, and the turn of the repeat that it stands in.
struct RouterTurn {
  RouterId router;
  int32_t turn;
};

class RouterRecords {
 public:
  /// Adds the room of the records to `layout`, which must outlive this; `scores`: records keep what routers decide by.
  RouterRecords(const Program& program, const Operands& operands, ExecutableLayout& layout, const Bindings& bounds, bool scores);

  /// Copies a decision to its record below `area`; one execution too many leaves none.
  void record(const Step& step, RouterTurn at, int32_t execution, std::byte* area);
  /// Copies the scores of the router: as soon as it has decided, because their memory is free for others from then on.
  void record_scores(RouterId router, const Rows& scores, int32_t execution, std::byte* area) const;

  /// The choices of the cells that came, from those of all cells of the dense space at `staged`; kNotRecorded where a cell has none,
  /// which `not_replayed` counts.
  int32_t* choices_to_replay(RouterTurn at, const int32_t* staged, int32_t& not_replayed);
  /// What the cells would have chosen freely, as the router's kernel left it, to where their choices came from.
  void leave_free_choices(RouterTurn at, int32_t* staged) const;

 private:
  struct Chain {
    CellChain chain;
    std::vector<OperandId> operands;
    std::vector<Rows> rows;
  };
  /// Where the choices of each cell that came lie among the staged ones.
  struct Staged {
    int64_t first, cells;
    int32_t fan_out;
    bool by_row;
  };
  void find_chains(const Bindings& bounds);
  int32_t columns_of_scores(const ProgramRouter& router) const;
  void lay_out(const Bindings& bounds, bool scores, ExecutableLayout& layout) const;
  const ProgramRouter& router(RouterId id) const { return program_.routers[id]; }
  /// There is a record for an execution of the router.
  bool has_room(RouterId router, int32_t execution) const;
  void look_up(Chain& chain) const;
  Staged staged(RouterTurn at) const;

  const Program& program_;
  const Operands& operands_;
  const ExecutableLayout& layout_;
  IdVector<RouterId, Chain> chains_;             // how its cells are followed to the dense ones
  IdVector<RouterId, OperandId> score_operand_;  // what its cells are told by
  std::vector<int32_t> replayed_;                // choices of the cells that came, for the router that runs
};

}  // namespace stormcell::cpu
