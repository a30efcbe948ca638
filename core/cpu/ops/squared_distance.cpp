// Differences are squared, not expanded to products: near a centre |x|^2 - 2 x c + |c|^2 cancels. Sixteen sums run side
// by side, as the compiler can keep them in vectors; they are added in one order, whatever threads there are.
#include <algorithm>
#include <array>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

constexpr int64_t kLanes = 16;

float distance(const float* a, const float* b, int64_t n) {
  std::array<float, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float apart = a[i + lane] - b[i + lane];
      sums[lane] += apart * apart;
    }
  for (; i < n; ++i) sums[i % kLanes] += (a[i] - b[i]) * (a[i] - b[i]);
  for (size_t width = kLanes / 2; width > 0; width /= 2)
    for (size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  return sums[0];
}

class SquaredDistance : public Kernel {
 public:
  explicit SquaredDistance(const BuildContext& m)
      : centres_(m.f32_weight(1)),
        count_(m.type(1).content[0].constant()),
        reciprocal_(flag_of(m.node(), "reciprocal")) {}
  void run(const Call& c) const override {
    const float* centres = c.floats(centres_);
    const int64_t d = c.in[0].width;
    split_rows(c.team, c.in[0].rows, count_ * d, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t k = 0; k < count_; ++k) {
          const float apart = distance(c.in[0].reals() + r * d, centres + k * d, d);
          c.out[0].reals()[r * count_ + k] = reciprocal_ ? 1 / std::max(apart, 1e-30F) : apart;
        }
    });
  }

 private:
  WeightHandle centres_;
  int64_t count_;
  bool reciprocal_;
};

}  // namespace
std::unique_ptr<Kernel> make_squared_distance(const BuildContext& m) { return std::make_unique<SquaredDistance>(m); }
}  // namespace stormcell::cpu
