#include <algorithm>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/rotary.h"

namespace stormcell::cpu {
namespace {

class Rotary : public Kernel {
 public:
  explicit Rotary(const BuildContext& m)
      : heads_(static_cast<int32_t>(m.node().attributes.integer("heads"))),
        theta_(static_cast<float>(m.node().attributes.real("theta"))) {}
  void run(const Call& c) const override {
    std::copy_n(c.in[0].reals(), c.in[0].elements(), c.out[0].reals());
    rotate_halves(c.team, c.out[0].reals(), c.out[0].width, c.out[0].rows, heads_,
                  static_cast<int32_t>(c.out[0].width / heads_), c.in[1].integers(), theta_);
  }

 private:
  int32_t heads_;
  float theta_;
};

}  // namespace
std::unique_ptr<Kernel> make_rotary(const BuildContext& m) { return std::make_unique<Rotary>(m); }
}  // namespace stormcell::cpu
