#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"

namespace stormcell::cpu {
namespace {

class Multiply : public Kernel {
 public:
  explicit Multiply(const BuildContext& m) : to_bf16_(m.writes_halves(0)) {}
  void run(const Call& c) const override {
    if (to_bf16_) {
      multiply(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].elements(), c.out[0].halves());
    } else if (c.in[0].width == c.in[1].width) {
      multiply(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].elements(), c.out[0].reals());
    } else {
      scale_rows(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].rows, c.in[0].width, c.out[0].reals());
    }
  }

 private:
  bool to_bf16_;
};

}  // namespace
std::unique_ptr<Kernel> make_multiply(const BuildContext& m) {
  const bool by_row = m.type(0).content != m.type(1).content;
  if (by_row && m.writes_halves(0)) return nullptr;
  return std::make_unique<Multiply>(m);
}
}  // namespace stormcell::cpu
