#include <algorithm>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Reduce : public Kernel {
 public:
  explicit Reduce(const Making& m) : last_(m.node().attributes.word("mode") == "last") {}
  void run(const Call& c) const override {
    const int64_t width = c.out[0].width;
    const CellGroups& groups = c.in[0].groups;
    for (int64_t p = 0; p < c.out[0].rows; ++p) {
      float* to = c.out[0].reals() + p * width;
      const float* from = c.in[0].reals() + groups.begin(p) * width;
      const int64_t n = groups.count(p);
      if (last_ && n > 0) {
        std::copy_n(from + (n - 1) * width, width, to);
        continue;
      }
      std::fill_n(to, width, 0.0f);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t x = 0; x < width; ++x) to[x] += from[i * width + x];
      for (int64_t x = 0; x < width && n > 0; ++x) to[x] /= static_cast<float>(n);
    }
  }

 private:
  bool last_;
};

}  // namespace
std::unique_ptr<Kernel> make_reduce(const Making& m) { return std::make_unique<Reduce>(m); }
}  // namespace stormcell::cpu
