#include "core/cpu/kernels/direct_conv2d.h"
#include "core/cpu/kernels/planar_conv2d.h"
#include "core/cpu/ops/conv2d_shape.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class Conv2dPlanar : public Kernel {
 public:
  Conv2dPlanar(const Making& m, const Conv2dShape& shape) : epilogue_(m), shape_(shape) {
    weight_ = m.branch_weight(1, kPlanarConvolution, DType::f32);
    scratch_ = static_cast<int64_t>(planar_conv2d_scratch_bytes(shape_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    Conv2dShape shape = shape_;
    shape.images = c.in[0].rows;
    PlanarEpilogue e;
    e.relu = epilogue_.activation() == Activation::relu, e.bias = epilogue_.bias(c), e.residual = epilogue_.residual(c);
    planar_conv2d(c.team, shape, c.in[0].reals(), reinterpret_cast<const float*>(c.weights.address(weight_).value), e, c.out[0].reals(),
                  c.scratch);
  }

 private:
  Conv2dEpilogue epilogue_;
  WeightHandle weight_;
  Conv2dShape shape_;
  int64_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_conv2d_planar(const Making& m) {
  const Conv2dShape shape = conv2d_shape(m);
  const Activation activation = parse_activation(word_of(m.node(), "activation"));
  // Turning a map to planes and back costs as much as some taps, and a row shorter than a vector leaves lanes empty: it pays where the
  // direct kernel's panels have a quarter of their columns for nothing (docs/decisions/029-convolutions.md).
  constexpr int64_t kFewChannels = 24, kManyInputs = 32, kLeastWidth = 16, kLeastTaps = 4;
  const ConvPanel last = conv_panel(shape.out_channels, conv_panel_count(shape.out_channels) - 1);
  const bool pays = shape.out_channels <= kFewChannels && 4 * shape.out_channels <= 3 * (last.first + last.width) &&
                    shape.in_channels <= kManyInputs && shape.out_width() >= kLeastWidth &&
                    shape.kernel_height * shape.kernel_width >= kLeastTaps;
  const bool fits = is_planar(shape) && (activation == Activation::none || activation == Activation::relu);
  if ((!pays && !m.is_asked_for()) || !fits || m.type(1).dtype == DType::bf16) return nullptr;
  return std::make_unique<Conv2dPlanar>(m, shape);
}
}  // namespace stormcell::cpu
