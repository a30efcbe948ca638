#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

class PixelShuffle : public Kernel {
 public:
  explicit PixelShuffle(const Making& m) : factor_(m.node().attributes.integer("factor")) {
    const TensorType& x = m.type(0);
    height_ = x.content[0].constant();
    width_ = x.content[1].constant();
    channels_ = x.content[2].constant() / (factor_ * factor_);
  }
  void run(const Call& c) const override {
    const int64_t line = width_ * channels_ * factor_ * factor_;  // numbers of one row of pixels, before as after
    split_rows(c.team, c.in[0].rows * height_, line, [&](int64_t begin, int64_t end) {
      for (int64_t y = begin; y < end; ++y) {
        const float* from = c.in[0].reals() + y * line;
        float* to = c.out[0].reals() + y * line;
        for (int64_t i = 0; i < factor_; ++i)
          for (int64_t x = 0; x < width_; ++x)
            for (int64_t j = 0; j < factor_; ++j)
              for (int64_t ch = 0; ch < channels_; ++ch) *to++ = from[(x * channels_ + ch) * factor_ * factor_ + i * factor_ + j];
      }
    });
  }

 private:
  int64_t factor_, height_ = 0, width_ = 0, channels_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_pixel_shuffle(const Making& m) { return std::make_unique<PixelShuffle>(m); }
}  // namespace stormcell::cpu
