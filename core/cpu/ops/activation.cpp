#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"

namespace stormcell::cpu {
namespace {

class Activate : public Kernel {
 public:
  explicit Activate(const BuildContext& m)
      : kind_(parse_activation(m.node().attributes.word("kind"))), to_bf16_(m.writes_halves(0)) {}
  void run(const Call& c) const override {
    if (to_bf16_) {
      activate(c.team, kind_, c.in[0].reals(), c.in[0].elements(), c.out[0].halves());
    } else {
      activate(c.team, kind_, c.in[0].reals(), c.in[0].elements(), c.out[0].reals());
    }
  }

 private:
  Activation kind_;
  bool to_bf16_;
};

}  // namespace
std::unique_ptr<Kernel> make_activation(const BuildContext& m) { return std::make_unique<Activate>(m); }
}  // namespace stormcell::cpu
