// Some pictures of a batch, judged for it where the oracle would take too long for all of them.
//
// The plan runs the whole batch, freely, as it is measured. The oracle computes the pictures of the part alone, with
// what the plan decided of their cells replayed: so it needs no other picture, even where cells of all of them compete
// for the places of a branch.
#pragma once
#include <cstdint>
#include <vector>

#include "core/data/batch.h"
#include "core/verification/judged_decision.h"

namespace stormcell {

/// Whether the rows of a picture can be told from those of others in all outputs and all scores that routers decide by.
bool has_rows_by_item(const Graph& graph);

/// The batch of the items `rows` alone, ascending.
Batch part_of(const Batch& batch, const std::vector<int64_t>& rows);
/// The values of the items that `rows` names, of `items` in a row.
std::vector<OutputValue> part_of(const std::vector<OutputValue>& outputs, const std::vector<int64_t>& rows,
                                 int64_t items);
/// The decisions of those items' cells, which keep their identity.
std::vector<JudgedDecision> part_of(const std::vector<JudgedDecision>& decisions, const std::vector<int64_t>& rows,
                                    int64_t items);
/// Gives decisions of an execution of the part alone the identity that their cells have in the batch.
void place_in_batch(std::vector<JudgedDecision>& decisions, const std::vector<int64_t>& rows);
/// The choices for an oracle that runs the part alone.
OracleReplay choices_for_oracle(const std::vector<JudgedDecision>& decisions);

/// The `count` rows that are compared, of the `items` rows of a batch: the first and the last, the others spread evenly
/// between them. The list leaves out row 0, by which the oracle is timed before `count` is known.
std::vector<int64_t> further_rows(int64_t count, int64_t items);

}  // namespace stormcell
