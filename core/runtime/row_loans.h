// Rows that need not be copied: a branch whose cells follow one another reads them where they lie.
#pragma once
#include <vector>

#include "core/base/id_vector.h"
#include "core/runtime/program.h"

namespace stormcell {

/// The steps that need not copy what they send, in their order. What they make for a branch may be read in the rows of their first input
/// wherever the cells of the branch follow one another there: that is known once the decision is made; a device that does not look copies.
/// Nothing is written to those rows as long as they are read, and only operators read them. `last` (of each buffer the step until which it
/// lives) grows where rows are lent longer, as far as no step has more than `most` bytes alive; `bytes`: of each buffer.
std::vector<int32_t> lend_rows(const Program& program, const IdVector<BufferId, int64_t>& bytes, int64_t most,
                               IdVector<BufferId, int32_t>& last);

}  // namespace stormcell
