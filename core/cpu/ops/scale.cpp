#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"

namespace stormcell::cpu {
namespace {

class Scale : public Kernel {
 public:
  explicit Scale(const BuildContext& m) : factor_(static_cast<float>(m.node().attributes.real("factor"))) {}
  void run(const Call& c) const override {
    scale(c.team, c.in[0].reals(), factor_, c.in[0].elements(), c.out[0].reals());
  }

 private:
  float factor_;
};

}  // namespace
std::unique_ptr<Kernel> make_scale(const BuildContext& m) { return std::make_unique<Scale>(m); }
}  // namespace stormcell::cpu
