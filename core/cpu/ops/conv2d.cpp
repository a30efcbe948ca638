#include "core/cpu/ops/conv2d_choice.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class Conv2d : public Kernel {
 public:
  explicit Conv2d(const BuildContext& m) : epilogue_(m), shape_(conv2d_shape(m)) {
    dtype_ = panels_dtype(m, shape_, 1);
    weight_ = m.branch_weight(1, conv_panels(shape_.groups), dtype_);
    Conv2dShape most = shape_;
    most.images = m.most_rows(0);
    scratch_ = static_cast<int64_t>(conv2d_scratch_bytes(most, dtype_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    Conv2dShape shape = shape_;
    shape.images = c.in[0].rows;
    if (shape.images == 0) return;
    conv2d(c.team, shape, c.in[0].reals(), reinterpret_cast<const std::byte*>(c.weights.address(weight_).value), dtype_,
           epilogue_.of_panels(c, shape.out_channels), c.out[0].reals(), c.scratch);
  }

 private:
  Conv2dEpilogue epilogue_;
  WeightHandle weight_;
  Conv2dShape shape_;
  DType dtype_ = DType::f32;
  int64_t scratch_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_conv2d(const BuildContext& m) { return std::make_unique<Conv2d>(m); }
}  // namespace stormcell::cpu
