#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"

namespace stormcell::cpu {
namespace {

class Add : public Kernel {
 public:
  explicit Add(const BuildContext& m) : integer_(m.type(0).dtype == DType::i32) {}
  void run(const Call& c) const override {
    if (!integer_) return add(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].elements(), c.out[0].reals());
    for (int64_t i = 0; i < c.in[0].elements(); ++i)
      c.out[0].integers()[i] = c.in[0].integers()[i] + c.in[1].integers()[i];
  }

 private:
  bool integer_;
};

}  // namespace
std::unique_ptr<Kernel> make_add(const BuildContext& m) { return std::make_unique<Add>(m); }
}  // namespace stormcell::cpu
