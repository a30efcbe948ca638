// The places of a program's buffers in memory.
#pragma once
#include "core/runtime/row_loans.h"

namespace stormcell {

/// Whether a branch may read its rows where they lie (row_loans.h). Copied they may take less memory, and take time.
enum class SentRows : uint8_t { lent, copied };

/// The place of each arena and state buffer when every symbol is at its bound.
struct MemoryPlan {
  IdVector<BufferId, int64_t> offset;  ///< -1 for inputs and pages
  int64_t arena_bytes = 0;
  int64_t state_bytes = 0;
  int64_t page_bytes = 0;      ///< bytes of the pages that the sequences' states fill at most, in the state store
  int64_t live_set_bytes = 0;  ///< the largest sum of sizes live at one step: no plan can need less
  /// the step until which each is kept: as the program says, or longer, where rows of it are lent
  IdVector<BufferId, int32_t> last;
  std::vector<RowLoan> loans;  ///< rows that may be read where they lie instead of being copied
};
/// Best fit over the live intervals, in several orders, of which the one that needs least counts; every offset is a
/// multiple of 64.
MemoryPlan plan_memory(const Program& program, const Bindings& bounds, SentRows rows = SentRows::lent);

}  // namespace stormcell
