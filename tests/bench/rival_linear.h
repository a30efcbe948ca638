// oneDNN's product with prepacked weights, as a rival for kernels_bench.
#pragma once
#include <cstdint>
#include <memory>

#include "core/base/dtype.h"
#include "core/base/thread_team.h"

namespace stormcell::bench {

/// y[rows, n] = x[rows, k] W^T with `sets` copies of the weights. Each member of the team multiplies its own slice of
/// the columns with its own primitive and one OpenMP thread: two spinning thread pools on the same cores cost
/// milliseconds.
class RivalLinear {
 public:
  virtual ~RivalLinear() = default;
  virtual void run(ThreadTeam& team, const float* x, int set, float* y) = 0;
};

/// Null where oneDNN is not built in. `weights` [n, k] in f32; with bf16 the rows of x are converted in every run, as
/// the kernels do.
std::unique_ptr<RivalLinear> make_rival_linear(ThreadTeam& team, int64_t rows, int64_t n, int64_t k, DType dtype,
                                               const float* weights, int sets);

}  // namespace stormcell::bench
