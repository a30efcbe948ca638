#include <cstring>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

class MergeCells : public Kernel {
 public:
  explicit MergeCells(const BuildContext& m)
      : columns_(m.node().attributes.integer("width") / 2),
        right_(word_of(m.node(), "order") == "columns" ? 2 : 1),
        channels_(m.type(0).content[0].constant()) {}
  void run(const Call& c) const override {
    const auto bytes = static_cast<size_t>(channels_) * sizeof(float);
    // Grids lie below each other, and heights are even: squares are counted through all of them.
    split_rows(c.team, c.out[0].rows, c.out[0].width, [&](int64_t begin, int64_t end) {
      for (int64_t square = begin; square < end; ++square) {
        const int64_t corner = (square / columns_ * 2 * columns_ + square % columns_) * 2;
        float* to = c.out[0].reals() + square * c.out[0].width;
        for (const int64_t down : {0, 1})
          for (const int64_t right : {0, 1}) {
            const int64_t part = right * right_ + down * (3 - right_);
            std::memcpy(to + part * channels_, c.in[0].reals() + (corner + down * 2 * columns_ + right) * channels_,
                        bytes);
          }
      }
    });
  }

 private:
  int64_t columns_, right_, channels_;
};

}  // namespace
std::unique_ptr<Kernel> make_merge_cells(const BuildContext& m) { return std::make_unique<MergeCells>(m); }
}  // namespace stormcell::cpu
