#include "core/cpu/kernels/norm.h"

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {
class RmsNorm : public Kernel {
 public:
  explicit RmsNorm(const Making& m) : gain_(m.f32_weight(1)), eps_(static_cast<float>(m.node().attributes.real("eps"))) {}
  void run(const Call& c) const override {
    rms_norm(c.team, c.in[0].reals(), c.in[0].rows, c.in[0].width, reinterpret_cast<const float*>(c.weights.address(gain_).value), eps_,
             c.out[0].reals());
  }

 private:
  int32_t gain_;
  float eps_;
};
}  // namespace
std::unique_ptr<Kernel> make_rms_norm(const Making& m) { return std::make_unique<RmsNorm>(m); }
}  // namespace stormcell::cpu
