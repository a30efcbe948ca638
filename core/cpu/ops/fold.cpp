#include <algorithm>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"
#include "core/graph/patch_grid.h"

namespace stormcell::cpu {
namespace {

// A thread takes rows of pixels of the picture and sums there what patches hold, in the order of the patches: no two
// threads write the same pixel, and the order of the sums does not depend on their number.
class Fold : public Kernel {
 public:
  explicit Fold(const BuildContext& m)
      : grid_(grid_of_fold(m.graph(), m.node())), channels_(m.type(0).content[2].constant()) {
    down_ = times(grid_.height, grid_.patch_height, grid_.rows(), [&](int64_t i) { return grid_.top(i); });
    along_ = times(grid_.width, grid_.patch_width, grid_.columns(), [&](int64_t j) { return grid_.left(j); });
  }
  void run(const Call& c) const override {
    const int64_t line = grid_.width * channels_;
    split_rows(c.team, c.out[0].rows * grid_.height, line, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        row(c.in[0].reals() + i / grid_.height * grid_.patches() * c.in[0].width, i % grid_.height,
            c.out[0].reals() + i * line);
    });
  }

 private:
  /// How many patches hold each row, or each column, of pixels.
  template <class First>
  static std::vector<int32_t> times(int64_t extent, int64_t patch, int64_t patches, First first) {
    std::vector<int32_t> held(extent, 0);
    for (int64_t i = 0; i < patches; ++i)
      for (int64_t x = 0; x < patch; ++x) ++held[first(i) + x];
    return held;
  }
  void row(const float* patches, int64_t y, float* to) const {
    std::fill_n(to, grid_.width * channels_, 0.0f);
    const int64_t run = grid_.patch_width * channels_;
    for (int64_t i = 0; i < grid_.rows(); ++i) {
      const int64_t within = y - grid_.top(i);
      if (within < 0 || within >= grid_.patch_height) continue;
      for (int64_t j = 0; j < grid_.columns(); ++j) {
        const float* from = patches + ((i * grid_.columns() + j) * grid_.patch_height + within) * run;
        float* at = to + grid_.left(j) * channels_;
        for (int64_t x = 0; x < run; ++x) at[x] += from[x];
      }
    }
    for (int64_t x = 0; x < grid_.width; ++x) {
      const float held = down_[y] * along_[x];
      for (int64_t ch = 0; ch < channels_; ++ch) to[x * channels_ + ch] /= held;
    }
  }
  PatchGrid grid_;
  int64_t channels_;
  std::vector<int32_t> down_, along_;
};

}  // namespace
std::unique_ptr<Kernel> make_fold(const BuildContext& m) { return std::make_unique<Fold>(m); }
}  // namespace stormcell::cpu
