#include "core/cpu/kernels/separable_conv2d.h"
#include "core/cpu/kernels/direct_conv2d.h"
#include "core/cpu/ops/conv2d_shape.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class SeparableConv2d : public Kernel {
 public:
  explicit SeparableConv2d(const BuildContext& m)
      : epilogue_(m), shape_(separable_shape(m)), outputs_(m.type(2).content[0].constant()) {
    // One part: a step computes a branch as soon as one of its parts is there, and this one needs both weights. The
    // small one stays.
    depthwise_ = m.weight(1, conv_panels(shape_.groups), DType::f32);
    pointwise_ = m.branch_weight(2, kDirectConvolution, DType::f32);
    scratch_ = static_cast<int64_t>(separable_conv2d_scratch_bytes(shape_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    Conv2dShape shape = shape_;
    shape.images = c.in[0].rows;
    if (shape.images == 0) return;
    separable_conv2d(c.team, shape, outputs_, c.in[0].reals(), c.floats(depthwise_), c.floats(pointwise_),
                     epilogue_.of_panels(c, outputs_), c.out[0].reals(), c.scratch);
  }

 private:
  Conv2dEpilogue epilogue_;
  Conv2dShape shape_;
  int64_t outputs_;
  WeightHandle depthwise_, pointwise_;
  int64_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_separable_conv2d(const BuildContext& m) { return std::make_unique<SeparableConv2d>(m); }
}  // namespace stormcell::cpu
