#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/norm.h"

namespace stormcell::cpu {
namespace {
class LayerNorm : public Kernel {
 public:
  explicit LayerNorm(const BuildContext& m)
      : gain_(m.f32_weight(1)), bias_(m.f32_weight(2)), eps_(static_cast<float>(m.node().attributes.real("eps"))) {}
  void run(const Call& c) const override {
    const float* gain = c.floats(gain_);
    const float* bias = c.floats(bias_);
    layer_norm(c.team, c.in[0].reals(), c.in[0].rows, c.in[0].width, gain, bias, eps_, c.out[0].reals());
  }

 private:
  WeightHandle gain_, bias_;
  float eps_;
};
}  // namespace
std::unique_ptr<Kernel> make_layer_norm(const BuildContext& m) { return std::make_unique<LayerNorm>(m); }
}  // namespace stormcell::cpu
