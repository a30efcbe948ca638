// Records of decisions that the CPU's record steps write, and the choices that a submission replays.
#pragma once
#include <vector>

#include "core/base/id_vector.h"
#include "core/cpu/operands.h"
#include "core/runtime/record_room.h"

namespace stormcell::cpu {

class RouterRecords {
 public:
  /// Adds the room of the records to `layout`, which must outlive this; `scores`: records keep what routers decide by.
  RouterRecords(const Program& program, const Operands& operands, ExecutableLayout& layout, const Bindings& bounds,
                bool scores);

  /// Copies a decision to its record below `area`; one execution too many leaves none.
  void record(const Step& step, RouterTurn at, int32_t execution, std::byte* area);
  /// Copies the scores of the router: as soon as it has decided, because their memory is free for others from then on.
  void record_scores(RouterId router, const Rows& scores, int32_t execution, std::byte* area) const;

  /// The choices of the cells that came, from those of all cells of the dense space at `staged`; kNotRecorded where a
  /// cell has none, which `not_replayed` counts.
  int32_t* choices_to_replay(RouterTurn at, const int32_t* staged, int32_t& not_replayed);
  /// Copies what the cells would have chosen freely, as the router's kernel left it, to where their choices came from.
  void leave_free_choices(RouterTurn at, int32_t* staged) const;

 private:
  /// There is a record for an execution of the router.
  bool has_room(RouterId router, int32_t execution) const;
  void look_up(RouterId router);
  RecordRoom::Staged staged(RouterTurn at) const;

  const Operands& operands_;
  const ExecutableLayout& layout_;
  RecordRoom room_;
  IdVector<RouterId, std::vector<Rows>> rows_;  // rows that are needed to follow its cells
  std::vector<int32_t> replayed_;               // choices of the cells that came, for the router that runs
};

}  // namespace stormcell::cpu
