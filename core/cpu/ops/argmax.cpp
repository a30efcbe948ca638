#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"

namespace stormcell::cpu {
namespace {

class Argmax : public Kernel {
 public:
  explicit Argmax(const BuildContext&) {}
  void run(const Call& c) const override {
    argmax_rows(c.team, c.in[0].reals(), c.in[0].rows, c.in[0].width, c.out[0].integers(), nullptr);
  }
};

}  // namespace
std::unique_ptr<Kernel> make_argmax(const BuildContext& m) { return std::make_unique<Argmax>(m); }
}  // namespace stormcell::cpu
