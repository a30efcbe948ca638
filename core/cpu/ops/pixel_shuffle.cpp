#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

/// A row of pixels becomes `factor` rows in the same place: output and input may be the same memory, and then each
/// thread holds a row.
class PixelShuffle : public Kernel {
 public:
  explicit PixelShuffle(const BuildContext& m) : factor_(m.node().attributes.integer("factor")) {
    const TensorType& x = m.type(0);
    height_ = x.content[0].constant();
    width_ = x.content[1].constant();
    channels_ = x.content[2].constant() / (factor_ * factor_);
    line_ = width_ * channels_ * factor_ * factor_;
    scratch_ = m.threads * line_ * static_cast<int64_t>(sizeof(float));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    const float* in = c.in[0].reals();
    float* out = c.out[0].reals();
    const int64_t grain = std::max<int64_t>(1, kAloneFloats / line_);
    c.team.split(c.in[0].rows * height_, grain, [&](int64_t begin, int64_t end, int worker) {
      float* held = reinterpret_cast<float*>(c.scratch) + worker * line_;
      for (int64_t y = begin; y < end; ++y) {
        const float* from = in + y * line_;
        if (in == out) {
          std::memcpy(held, from, static_cast<size_t>(line_) * sizeof(float));
          from = held;
        }
        shuffle(from, out + y * line_);
      }
    });
  }

 private:
  void shuffle(const float* from, float* to) const {
    for (int64_t i = 0; i < factor_; ++i)
      for (int64_t x = 0; x < width_; ++x)
        for (int64_t j = 0; j < factor_; ++j)
          for (int64_t ch = 0; ch < channels_; ++ch)
            *to++ = from[(x * channels_ + ch) * factor_ * factor_ + i * factor_ + j];
  }

  int64_t factor_, height_ = 0, width_ = 0, channels_ = 0, scratch_ = 0;
  int64_t line_ = 0;  // numbers of one row of pixels, before as after
};

}  // namespace
std::unique_ptr<Kernel> make_pixel_shuffle(const BuildContext& m) { return std::make_unique<PixelShuffle>(m); }
}  // namespace stormcell::cpu
