// The cells that the figures name one by one: first differences and samples, with their tokens.
#pragma once
#include "core/difference/difference.h"
#include "core/difference/difference_counter.h"
#include "core/difference/recording_source.h"

namespace stormcell {

struct BothRecordings {
  const RecordingSource &a, &b;
};

/// Fills samples of `figures`, and the tokens of its samples and of its sequences, which are filled already.
void list_cells(const CounterInput& input, const DifferenceCounter& counter, const BothRecordings& recordings,
                DifferenceFigures& figures);

}  // namespace stormcell
