#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"

namespace stormcell::cpu {
namespace {

class Multiply : public Kernel {
 public:
  explicit Multiply(const Making&) {}
  void run(const Call& c) const override {
    if (c.in[0].width == c.in[1].width) {
      multiply(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].elements(), c.out[0].reals());
    } else {
      scale_rows(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].rows, c.in[0].width, c.out[0].reals());
    }
  }
};

}  // namespace
std::unique_ptr<Kernel> make_multiply(const Making& m) { return std::make_unique<Multiply>(m); }
}  // namespace stormcell::cpu
