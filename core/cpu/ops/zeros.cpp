#include <algorithm>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

class Zeros : public Kernel {
 public:
  void run(const Call& c) const override {
    float* out = c.out[0].reals();
    const int64_t floats = c.out[0].elements();
    if (floats <= kAloneFloats) {
      std::fill_n(out, floats, 0.0f);
    } else {
      c.team.split(floats, kAloneFloats,
                   [&](int64_t begin, int64_t end, int) { std::fill(out + begin, out + end, 0.0f); });
    }
  }
};

}  // namespace
std::unique_ptr<Kernel> make_zeros(const BuildContext&) { return std::make_unique<Zeros>(); }
}  // namespace stormcell::cpu
