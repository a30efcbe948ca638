#include "core/cpu/ops/conv2d_choice.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class Conv2dPlanar : public Kernel {
 public:
  Conv2dPlanar(const BuildContext& m, const Conv2dShape& shape) : epilogue_(m), shape_(shape) {
    weight_ = m.branch_weight(1, kPlanarConvolution, DType::f32);
    scratch_ = static_cast<int64_t>(planar_conv2d_scratch_bytes(shape_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    Conv2dShape shape = shape_;
    shape.images = c.in[0].rows;
    planar_conv2d(c.team, shape, c.in[0].reals(), c.floats(weight_), epilogue_.of_planes(c), c.out[0].reals(),
                  c.scratch);
  }

 private:
  Conv2dEpilogue epilogue_;
  WeightHandle weight_;
  Conv2dShape shape_;
  int64_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_conv2d_planar(const BuildContext& m) {
  const Conv2dShape shape = conv2d_shape(m);
  return takes_planar(m, shape, 1) ? std::make_unique<Conv2dPlanar>(m, shape) : nullptr;
}
}  // namespace stormcell::cpu
