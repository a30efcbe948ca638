// Rows that need not be copied: a branch whose cells follow one another reads them where they lie.
#pragma once
#include <vector>

#include "core/base/id_vector.h"
#include "core/runtime/program.h"

namespace stormcell {

/// A value that a step makes for a branch may be read in the rows of its first input, the lender.
struct RowLoan {
  OperandId lender, borrower;
};

/// Finds what the steps that send rows need not copy: if the cells of the branch follow one another in the lender, its
/// rows may be read there. This is known once the decision is made; a device that does not look copies. Nothing is
/// written to those rows while they are read, and only operators read them. `last` (for each buffer the step until
/// which it lives) grows if rows are lent longer, as long as no step has more than `most` bytes alive. `bytes`: of each
/// buffer.
std::vector<RowLoan> lend_rows(const Program& program, const IdVector<BufferId, int64_t>& bytes, int64_t most,
                               IdVector<BufferId, int32_t>& last);

}  // namespace stormcell
