// One image goes through the whole chain in planes, on one thread and in its L2 or on all threads
// (core/cpu/kernels/planar_conv2d.h).
#include "core/cpu/kernels/planar_conv2d.h"
#include "core/cpu/ops/conv2d_shape.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class ResidualBlocks : public Kernel {
 public:
  explicit ResidualBlocks(const BuildContext& m) : shape_(residual_shape(m)) {
    // No parts: a step of several parts computes a branch as soon as one of them is there, and a chain needs them all.
    // Under a budget they stay.
    for (size_t i = 1; i < m.node().inputs.size(); i += 2)
      convolutions_.push_back({m.weight(i, kPlanarConvolution, DType::f32), m.f32_weight(i + 1)});
    of_chain_ = static_cast<int64_t>(residual_blocks_scratch_bytes(shape_, m.threads));
  }
  int64_t scratch_bytes() const override {
    return of_chain_ + static_cast<int64_t>(convolutions_.size() / 2 * sizeof(ResidualBlockWeights));
  }
  void run(const Call& c) const override {
    auto* const blocks = reinterpret_cast<ResidualBlockWeights*>(c.scratch + of_chain_);
    for (size_t i = 0; i < convolutions_.size(); i += 2)
      blocks[i / 2] = {c.floats(convolutions_[i].weight), c.floats(convolutions_[i].bias),
                       c.floats(convolutions_[i + 1].weight), c.floats(convolutions_[i + 1].bias)};
    Conv2dShape shape = shape_;
    shape.images = c.in[0].rows;
    residual_blocks(c.team, shape, c.in[0].reals(), {blocks, convolutions_.size() / 2}, c.out[0].reals(), c.scratch);
  }

 private:
  struct Convolution {
    WeightHandle weight, bias;
  };
  Conv2dShape shape_;
  std::vector<Convolution> convolutions_;
  int64_t of_chain_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_residual_blocks(const BuildContext& m) { return std::make_unique<ResidualBlocks>(m); }
}  // namespace stormcell::cpu
