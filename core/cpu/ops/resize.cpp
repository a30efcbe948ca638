#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/non_temporal.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

/// Taps of each output pixel of a side, found once when a program is compiled.
std::vector<ResizeTap> taps_of(int64_t from, int64_t to, bool nearest) {
  std::vector<ResizeTap> taps;
  for (int64_t i = 0; i < to; ++i) {
    if (nearest) {
      taps.push_back({i * from / to, i * from / to, 0});
      continue;
    }
    // (i + 1/2) from / to - 1/2 in units of 1 / (2 to): whole numbers, so that the share of a middle that is hit is
    // exactly 0.
    const int64_t at = std::max<int64_t>(0, (2 * i + 1) * from - to), first = std::min(at / (2 * to), from - 1);
    taps.push_back(
        {first, std::min(first + 1, from - 1), static_cast<float>(at - first * 2 * to) / static_cast<float>(2 * to)});
  }
  return taps;
}

class Resize : public Kernel {
 public:
  explicit Resize(const BuildContext& m) : nearest_(m.node().attributes.word("mode") == "nearest") {
    const TensorType& x = m.type(0);
    height_ = x.content[0].constant();
    width_ = x.content[1].constant();
    channels_ = x.content[2].constant();
    down_ = taps_of(height_, m.node().attributes.integer("height"), nearest_);
    along_ = taps_of(width_, m.node().attributes.integer("width"), nearest_);
  }
  void run(const Call& c) const override {
    const auto rows = std::ssize(down_), row = std::ssize(along_) * channels_;
    const bool non_temporal = is_non_temporal(c.out[0].reals(), c.in[0].rows * rows * std::ssize(along_), channels_);
    split_rows(c.team, c.in[0].rows * rows, row, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const ResizeTap& y = down_[i % rows];
        const float* map = c.in[0].reals() + i / rows * height_ * width_ * channels_;
        line(map + y.first * width_ * channels_, map + y.second * width_ * channels_, y.share,
             c.out[0].reals() + i * row, non_temporal);
      }
    });
  }

 private:
  void line(const float* above, const float* below, float share, float* to, bool non_temporal) const {
    if (!nearest_)
      return kernels().resize({above, below, share, along_.data(), std::ssize(along_), channels_, to, non_temporal});
    for (const ResizeTap& x : along_) {
      std::memcpy(to, above + x.first * channels_, static_cast<size_t>(channels_) * sizeof(float));
      to += channels_;
    }
  }
  bool nearest_;
  int64_t height_ = 0, width_ = 0, channels_ = 0;
  std::vector<ResizeTap> down_, along_;  // by output row, by output column
};

}  // namespace
std::unique_ptr<Kernel> make_resize(const BuildContext& m) { return std::make_unique<Resize>(m); }
}  // namespace stormcell::cpu
