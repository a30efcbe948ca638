// Means and factors of the channels, repeated, so that rows of three channels are worked on in whole vectors: (x -
// mean) is exact where x is near its mean, as in the oracle.
#include <algorithm>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

/// Channels, repeated to about so many floats: two patterns stay in L1.
constexpr int64_t kPatternFloats = 1024;

class Standardize : public Kernel {
 public:
  explicit Standardize(const BuildContext& m)
      : mean_(m.f32_weight(1)),
        deviation_(m.f32_weight(2)),
        channels_(m.type(0).content.back().constant()),
        pattern_(std::max<int64_t>(1, kPatternFloats / channels_) * channels_) {}
  int64_t scratch_bytes() const override { return 2 * pattern_ * static_cast<int64_t>(sizeof(float)); }
  void run(const Call& c) const override {
    const float* mean = c.floats(mean_);
    const float* deviation = c.floats(deviation_);
    float *shift = reinterpret_cast<float*>(c.scratch), *factor = shift + pattern_;
    for (int64_t i = 0; i < pattern_; ++i) {
      shift[i] = -mean[i % channels_];
      factor[i] = 1 / deviation[i % channels_];
    }
    const KernelTable& table = kernels();
    const int64_t all = c.in[0].elements(), runs = (all + pattern_ - 1) / pattern_;
    split_rows(c.team, runs, pattern_, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run) {
        const int64_t first = run * pattern_, count = std::min(pattern_, all - first);
        float* y = c.out[0].reals() + first;
        table.add(c.in[0].reals() + first, shift, count, y);
        table.multiply(y, factor, count, y);
      }
    });
  }

 private:
  WeightHandle mean_, deviation_;
  int64_t channels_, pattern_;
};

}  // namespace
std::unique_ptr<Kernel> make_standardize(const BuildContext& m) { return std::make_unique<Standardize>(m); }
}  // namespace stormcell::cpu
