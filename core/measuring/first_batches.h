// Times the first batches, from which the time for all of them is estimated.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bench/workload.h"

namespace stormcell {

struct FirstBatches {
  double compile = 0;  ///< seconds to make a plan, without reading weights
  double load = 0;     ///< seconds to read and pack the weights of a plan, at most
  double batch = 0;    ///< seconds of one execution of the baseline, with its data
};
/// Up to eight of `batches`, evenly spread: the first ones may be shorter than the others. If the data have pictures of
/// several `sizes`, it is the second batch alone, since each size is compiled when it comes.
std::vector<int64_t> batches_to_time(int64_t batches, size_t sizes);
/// Runs the baseline on the first batch, which touches all memory. If that is fast, the result is the mean over
/// batches_to_time(), as many as run within half a second, but at least one. Throws Error(bad_input) if the model does
/// not fit into memory.
FirstBatches time_first_batches(Workload& work, const Progress& progress);

}  // namespace stormcell
