// Random annotations of random graphs: storage, kernels and formats, as far as the CPU has kernels for them.
#pragma once
#include "core/runtime/device.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

struct AnnotationCounts {
  int stored = 0, sent = 0, kernels = 0, formats = 0;  ///< values in bf16; of those, rows that are sent to branches
};

/// Says of some values that they lie in bf16, of some nodes which kernel runs them, of some weights in bf16 that they
/// are held in f32.
AnnotationCounts annotate_randomly(Graph& graph, const Bf16Rows& rows, uint64_t seed);

}  // namespace stormcell::testing
