#include "core/cpu/kernels/pool.h"

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Pool : public Kernel {
 public:
  explicit Pool(const BuildContext& m) : kind_(m.node().attributes.word("kind")) {
    const TensorType& x = m.type(0);
    shape_.height = x.content[0].constant();
    shape_.width = x.content[1].constant();
    shape_.channels = x.content[2].constant();
    if (kind_ != "global_average") {
      shape_.kernel_height = shape_.kernel_width = m.node().attributes.integer("size");
      shape_.stride_height = shape_.stride_width = m.node().attributes.integer("stride");
      shape_.pad_height = shape_.pad_width = integer_of(m.node(), "padding");
    } else {
      const int64_t images = m.program.dims[m.program.operands[m.step.outputs[0]].rows].evaluate(m.bounds);
      scratch_ = static_cast<int64_t>(
          global_average_pool_scratch_bytes(images, shape_.height * shape_.width, shape_.channels));
    }
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    Pool2dShape shape = shape_;
    shape.images = c.in[0].rows;
    if (shape.images == 0) return;
    if (kind_ == "global_average") {
      global_average_pool(c.team, c.in[0].reals(), shape.images, shape.height * shape.width, shape.channels,
                          c.out[0].reals(), c.scratch);
    } else if (kind_ == "max") {
      max_pool2d(c.team, shape, c.in[0].reals(), c.out[0].reals());
    } else {
      average_pool2d(c.team, shape, c.in[0].reals(), c.out[0].reals());
    }
  }

 private:
  std::string kind_;
  Pool2dShape shape_;
  int64_t scratch_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_pool(const BuildContext& m) { return std::make_unique<Pool>(m); }
}  // namespace stormcell::cpu
