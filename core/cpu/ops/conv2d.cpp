#include "core/cpu/ops/conv2d_shape.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class Conv2d : public Kernel {
 public:
  explicit Conv2d(const Making& m)
      : bias_(extra_input(m.node(), "bias", 2)), residual_(extra_input(m.node(), "residual", 2)), shape_(conv2d_shape(m)) {
    activation_ = parse_activation(word_of(m.node(), "activation"));
    dtype_ = m.type(1).dtype == DType::bf16 && !shape_.depthwise() ? DType::bf16 : DType::f32;
    weight_ = m.branch_weight(1, conv_panels(shape_.groups), dtype_);
    if (bias_) bias_handle_ = m.f32_weight(*bias_);
    Conv2dShape most = shape_;
    most.images = m.most_rows(0);
    scratch_ = static_cast<int64_t>(conv2d_scratch_bytes(most, dtype_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    Conv2dShape shape = shape_;
    shape.images = c.in[0].rows;
    if (shape.images == 0) return;
    Epilogue e;
    e.activation = activation_;
    if (bias_) e.bias = reinterpret_cast<const float*>(c.weights.address(bias_handle_).value);
    if (residual_) e.residual = c.in[*residual_].reals(), e.ld_extra = shape.out_channels;
    conv2d(c.team, shape, c.in[0].reals(), reinterpret_cast<const std::byte*>(c.weights.address(weight_).value), dtype_, e,
           c.out[0].reals(), c.scratch);
  }

 private:
  std::optional<size_t> bias_, residual_;
  WeightHandle bias_handle_, weight_;
  Conv2dShape shape_;
  Activation activation_ = Activation::none;
  DType dtype_ = DType::f32;
  int64_t scratch_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_conv2d(const Making& m) { return std::make_unique<Conv2d>(m); }
}  // namespace stormcell::cpu
