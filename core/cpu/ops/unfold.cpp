#include <cstring>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"
#include "core/graph/patch_grid.h"

namespace stormcell::cpu {
namespace {

class Unfold : public Kernel {
 public:
  explicit Unfold(const BuildContext& m)
      : grid_(grid_of_unfold(m.graph(), m.node())), channels_(m.type(0).content[2].constant()) {}
  void run(const Call& c) const override {
    const int64_t run = grid_.patch_width * channels_, patches = grid_.patches();
    const auto bytes = static_cast<size_t>(run) * sizeof(float);
    // Every picture has all its patches, one after the other: the row tells picture and place.
    split_rows(c.team, c.out[0].rows, c.out[0].width, [&](int64_t begin, int64_t end) {
      for (int64_t patch = begin; patch < end; ++patch) {
        const int64_t place = patch % patches, top = grid_.top(place / grid_.columns()),
                      left = grid_.left(place % grid_.columns());
        const float* from = c.in[0].reals() + ((patch / patches * grid_.height + top) * grid_.width + left) * channels_;
        float* to = c.out[0].reals() + patch * c.out[0].width;
        for (int64_t y = 0; y < grid_.patch_height; ++y)
          std::memcpy(to + y * run, from + y * grid_.width * channels_, bytes);
      }
    });
  }

 private:
  PatchGrid grid_;
  int64_t channels_;
};

}  // namespace
std::unique_ptr<Kernel> make_unfold(const BuildContext& m) { return std::make_unique<Unfold>(m); }
}  // namespace stormcell::cpu
