// The cells that the figures name one by one: first differences and samples, with their tokens.
#pragma once
#include <vector>

#include "core/difference/difference_counter.h"
#include "core/difference/named_cells.h"
#include "core/difference/recording_source.h"

namespace stormcell {

struct BothRecordings {
  RecordingSource &a, &b;
};

/// Cells whose choices differ, ascending by layer, group, request and position, with their tokens and scores. Reads a
/// once more if it has scores.
std::vector<DiffSample> list_samples(const CounterInput& input, const DifferenceCounter& counter,
                                     const BothRecordings& recordings, const Progress& progress);
/// Fills the tokens of the counter's first differences, which are in its order.
void set_tokens(const CounterInput& input, const DifferenceCounter& counter, const BothRecordings& recordings,
                std::vector<DiffSequence>& sequences);

}  // namespace stormcell
