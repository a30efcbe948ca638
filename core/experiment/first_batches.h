// What the first batches of the data tell of the time that all of them will take.
#pragma once
#include "core/experiment/workload.h"

namespace stormcell {

struct FirstBatches {
  double compile = 0;  ///< seconds to make a plan, without reading weights
  double batch = 0;    ///< seconds of one execution of the baseline, with its data
};
/// Runs the baseline on the first batch, and, unless that alone takes long, on the second one, whose time then counts: the first one
/// touches all memory. Throws Error(bad_input) where the model does not fit into memory.
FirstBatches time_first_batches(Workload& work, const Progress& progress);

}  // namespace stormcell
