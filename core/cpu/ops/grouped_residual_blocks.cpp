// The chains of all branches of a decision: a thread takes the next map, whatever branch it is of, through its branch's
// whole chain; of all branches' maps together at most as many as there are threads, less one, are left to be shared by
// rows (core/cpu/kernels/planar_conv2d.h).
#include "core/cpu/kernels/planar_conv2d.h"
#include "core/cpu/ops/branch_tables.h"
#include "core/cpu/ops/conv2d_shape.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class GroupedResidualBlocks : public Kernel {
 public:
  explicit GroupedResidualBlocks(const BuildContext& m)
      : shape_(residual_shape(m, 2)), rows_(m), branches_(m.node().attributes.list("branches")) {
    // No parts, as of residual_blocks.
    const size_t step = branches_.size(), convolutions = (m.node().inputs.size() - 2) / 2;
    for (size_t i = 0; i < convolutions; ++i) {
      const size_t at = 2 + i / step * 2 * step + i % step;
      handles_.push_back({m.weight(at, kPlanarConvolution, DType::f32), m.f32_weight(at + step)});
    }
    blocks_ = convolutions / step / 2;
    weights_.resize(blocks_ * step);
    chains_.resize(rows_.branches(), nullptr);
    for (size_t b = 0; b < step; ++b) chains_[branches_[b]] = weights_.data() + b * blocks_;
    scratch_ = static_cast<int64_t>(residual_blocks_scratch_bytes(shape_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    const size_t step = branches_.size();
    for (size_t b = 0; b < step; ++b)
      for (size_t i = 0; i < blocks_; ++i) {
        const Convolution &first = handles_[2 * i * step + b], &second = handles_[(2 * i + 1) * step + b];
        weights_[b * blocks_ + i] = {c.floats(first.weight), c.floats(first.bias), c.floats(second.weight),
                                     c.floats(second.bias)};
      }
    GroupedMaps<ResidualBlockWeights> maps;
    maps.x = c.in[0].reals();
    maps.map_of_slot = rows_.row_of_slot(c);
    maps.offsets = rows_.offsets(c);
    maps.branches = rows_.branches();
    maps.weights = chains_.data();
    residual_blocks(c.team, shape_, maps, blocks_, c.out[0].reals(), c.scratch);
  }

 private:
  struct Convolution {
    WeightHandle weight, bias;
  };
  Conv2dShape shape_;
  BranchRowTable rows_;
  std::vector<int64_t> branches_;
  std::vector<Convolution> handles_;  // the first convolutions of all branches, then the second, and so on
  size_t blocks_ = 0;
  mutable std::vector<ResidualBlockWeights> weights_;  // branch after branch; refilled by each run
  std::vector<const ResidualBlockWeights*> chains_;    // by branch, into weights_
  int64_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_grouped_residual_blocks(const BuildContext& m) {
  return std::make_unique<GroupedResidualBlocks>(m);
}
}  // namespace stormcell::cpu
