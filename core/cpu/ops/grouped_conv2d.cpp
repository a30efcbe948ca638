// The convolutions of all branches of a decision. Maps of all branches lie on one line that the threads share out, in
// planes or in direct panels as a single branch's would be; what those do not take goes branch after branch through the
// dense product's panels.
#include "core/cpu/kernels/split_work.h"
#include "core/cpu/ops/branch_tables.h"
#include "core/cpu/ops/conv2d_choice.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

constexpr size_t kWeights = 2;  // the first input that serves a branch

class GroupedConv2d : public Kernel {
 public:
  GroupedConv2d(const BuildContext& m, const Conv2dShape& shape, const std::string& layout, DType dtype)
      : epilogue_(m), shape_(shape), rows_(m) {
    weights_ = {m, kWeights, [&](size_t input) { return m.branch_weight(input, layout, dtype); }};
    if (flag_of(m.node(), "biases"))
      biases_ = {m, kWeights + m.node().attributes.list("branches").size(),
                 [&](size_t input) { return m.f32_weight(input); }};
  }
  int64_t scratch_bytes() const override { return scratch_; }

 protected:
  GroupedMaps<float> maps(const Call& c) const {
    GroupedMaps<float> maps;
    maps.x = c.in[0].reals();
    maps.map_of_slot = rows_.row_of_slot(c);
    maps.offsets = rows_.offsets(c);
    maps.branches = rows_.branches();
    maps.weights = weights_.left_to_compute(c);
    maps.biases = biases_.all(c);
    return maps;
  }

  Conv2dEpilogue epilogue_;
  Conv2dShape shape_;
  BranchRowTable rows_;
  int64_t scratch_ = 0;

 private:
  BranchFloats weights_, biases_;
};

class GroupedConv2dPlanar : public GroupedConv2d {
 public:
  GroupedConv2dPlanar(const BuildContext& m, const Conv2dShape& shape)
      : GroupedConv2d(m, shape, kPlanarConvolution, DType::f32) {
    scratch_ = static_cast<int64_t>(planar_conv2d_scratch_bytes(shape_, m.threads));
  }
  void run(const Call& c) const override {
    planar_conv2d(c.team, shape_, maps(c), epilogue_.of_planes(c), c.out[0].reals(), c.scratch);
  }
};

class GroupedConv2dDirect : public GroupedConv2d {
 public:
  GroupedConv2dDirect(const BuildContext& m, const Conv2dShape& shape)
      : GroupedConv2d(m, shape, kDirectConvolution, DType::f32) {
    scratch_ = static_cast<int64_t>(direct_conv2d_scratch_bytes(shape_, m.threads));
  }
  void run(const Call& c) const override {
    direct_conv2d(c.team, shape_, maps(c), epilogue_.of_panels(c, shape_.out_channels), c.out[0].reals(), c.scratch);
  }
};

class GroupedConv2dPanels : public GroupedConv2d {
 public:
  GroupedConv2dPanels(const BuildContext& m, const Conv2dShape& shape)
      : GroupedConv2d(m, shape, conv_panels(shape.groups), panels_dtype(m, shape, kWeights)),
        dtype_(panels_dtype(m, shape, kWeights)) {
    Conv2dShape most = shape_;
    most.images = m.program.dims[m.program.operands[m.step.outputs[0]].rows].evaluate(m.bounds);
    panels_ = static_cast<int64_t>(conv2d_scratch_bytes(most, dtype_, m.threads));
    scratch_ = panels_ + (rows_.from_cells() ? most.images * map_floats() * static_cast<int64_t>(sizeof(float)) : 0);
  }
  void run(const Call& c) const override {
    const GroupedMaps<float> of = maps(c);
    const int64_t in = map_floats(), out = shape_.out_height() * shape_.out_width() * shape_.out_channels;
    auto* const sent = reinterpret_cast<float*>(c.scratch + panels_);
    for (int32_t b = 0; b < of.branches && !c.team.cancelled(); ++b) {
      Conv2dShape shape = shape_;
      shape.images = of.maps(b);
      if (shape.images == 0) continue;
      const int64_t first = of.offsets[b];
      const float* x = of.x + first * in;
      // Its fields are gathered from maps that lie one after the other.
      if (of.map_of_slot) {
        split_floats(c.team, shape.images, in, [&](int64_t i, int64_t begin, int64_t end) {
          std::copy(of.map(first + i, in) + begin, of.map(first + i, in) + end, sent + i * in + begin);
        });
        x = sent;
      }
      Epilogue e = epilogue_.of_panels(c, shape_.out_channels);
      e.bias = of.bias(b);
      if (e.residual) e.residual += first * out;
      conv2d(c.team, shape, x, reinterpret_cast<const std::byte*>(of.weights[b]), dtype_, e,
             c.out[0].reals() + first * out, c.scratch);
    }
  }

 private:
  int64_t map_floats() const { return shape_.height * shape_.width * shape_.in_channels; }
  DType dtype_;
  int64_t panels_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_grouped_conv2d_planar(const BuildContext& m) {
  const Conv2dShape shape = conv2d_shape(m, kWeights);
  return takes_planar(m, shape, kWeights) ? std::make_unique<GroupedConv2dPlanar>(m, shape) : nullptr;
}
std::unique_ptr<Kernel> make_grouped_conv2d_direct(const BuildContext& m) {
  const Conv2dShape shape = conv2d_shape(m, kWeights);
  return takes_direct(m, shape, kWeights) ? std::make_unique<GroupedConv2dDirect>(m, shape) : nullptr;
}
std::unique_ptr<Kernel> make_grouped_conv2d(const BuildContext& m) {
  return std::make_unique<GroupedConv2dPanels>(m, conv2d_shape(m, kWeights));
}
}  // namespace stormcell::cpu
