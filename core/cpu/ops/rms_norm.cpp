#include "core/cpu/kernels/norm.h"

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {
class RmsNorm : public Kernel {
 public:
  explicit RmsNorm(const BuildContext& m)
      : gain_(m.f32_weight(1)),
        eps_(static_cast<float>(m.node().attributes.real("eps"))),
        heads_(integer_of(m.node(), "heads")),
        to_bf16_(m.writes_halves(0)) {}
  void run(const Call& c) const override {
    const float* gain = c.floats(gain_);
    const Rows& x = c.in[0];
    const int64_t rows = x.rows * heads_, width = x.width / heads_;
    if (to_bf16_) {
      rms_norm(c.team, x.reals(), rows, width, gain, eps_, c.out[0].halves());
    } else {
      rms_norm(c.team, x.reals(), rows, width, gain, eps_, c.out[0].reals());
    }
  }

 private:
  WeightHandle gain_;
  float eps_;
  int64_t heads_;
  bool to_bf16_;
};
}  // namespace
std::unique_ptr<Kernel> make_rms_norm(const BuildContext& m) { return std::make_unique<RmsNorm>(m); }
}  // namespace stormcell::cpu
