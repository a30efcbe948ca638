#include <algorithm>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class StateFill : public Kernel {
 public:
  explicit StateFill(const BuildContext& m)
      : integer_(m.type(0).dtype == DType::i32), value_(m.node().attributes.real("value")) {}
  void run(const Call& c) const override {
    if (integer_) {
      std::fill_n(c.in[0].integers(), c.in[0].elements(), static_cast<int32_t>(value_));
    } else {
      std::fill_n(c.in[0].reals(), c.in[0].elements(), static_cast<float>(value_));
    }
  }

 private:
  bool integer_;
  double value_;
};

}  // namespace
std::unique_ptr<Kernel> make_state_fill(const BuildContext& m) { return std::make_unique<StateFill>(m); }
}  // namespace stormcell::cpu
