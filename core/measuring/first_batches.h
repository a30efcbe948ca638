// Times the first batches, from which the time for all of them is estimated.
#pragma once
#include "core/bench/workload.h"

namespace stormcell {

struct FirstBatches {
  double compile = 0;  ///< seconds to make a plan, without reading weights
  double load = 0;     ///< seconds to read and pack the weights of a plan, at most
  double batch = 0;    ///< seconds of one execution of the baseline, with its data
};
/// Runs the baseline on the first batch and, unless that takes long, on the second, whose time then counts: the first
/// one touches all memory. Throws Error(bad_input) if the model does not fit into memory.
FirstBatches time_first_batches(Workload& work, const Progress& progress);

}  // namespace stormcell
