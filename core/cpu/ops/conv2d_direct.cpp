#include "core/cpu/ops/conv2d_choice.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class Conv2dDirect : public Kernel {
 public:
  Conv2dDirect(const BuildContext& m, const Conv2dShape& shape) : epilogue_(m), shape_(shape) {
    weight_ = m.branch_weight(1, kDirectConvolution, DType::f32);
    scratch_ = static_cast<int64_t>(direct_conv2d_scratch_bytes(shape_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    Conv2dShape shape = shape_;
    shape.images = c.in[0].rows;
    if (shape.images == 0) return;
    direct_conv2d(c.team, shape, c.in[0].reals(), c.floats(weight_), epilogue_.of_panels(c, shape.out_channels),
                  c.out[0].reals(), c.scratch);
  }

 private:
  Conv2dEpilogue epilogue_;
  WeightHandle weight_;
  Conv2dShape shape_;
  int64_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_conv2d_direct(const BuildContext& m) {
  const Conv2dShape shape = conv2d_shape(m);
  return takes_direct(m, shape, 1) ? std::make_unique<Conv2dDirect>(m, shape) : nullptr;
}
}  // namespace stormcell::cpu
