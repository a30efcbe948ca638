#include "core/cpu/kernels/sample.h"
#include "core/cpu/cpu_kernel.h"
#include "core/graph/sampling.h"

namespace stormcell::cpu {
namespace {

class Sample : public Kernel {
 public:
  explicit Sample(const BuildContext& m)
      : rule_(sampling_of(m.node())),
        width_(m.graph().value(m.node().inputs[0]).type.content.back().constant()),
        scratch_(width_ * static_cast<int64_t>(sizeof(int32_t)) * m.threads) {}
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    const float* scores = c.in[0].reals();
    c.team.split(c.in[0].rows, 1, [&](int64_t begin, int64_t end, int member) {
      const std::span order(reinterpret_cast<int32_t*>(c.scratch) + member * width_, static_cast<size_t>(width_));
      for (int64_t r = begin; r < end; ++r)
        c.out[0].integers()[r] =
            sampled_token({scores + r * width_, static_cast<size_t>(width_)}, rule_,
                          draw_key(rule_.seed, c.in[1].integers()[r], c.in[2].integers()[r]), order);
    });
  }

 private:
  SamplingRule rule_;
  int64_t width_, scratch_;
};

}  // namespace
std::unique_ptr<Kernel> make_sample(const BuildContext& m) { return std::make_unique<Sample>(m); }
}  // namespace stormcell::cpu
