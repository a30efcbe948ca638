#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class AddConstant : public Kernel {
 public:
  explicit AddConstant(const BuildContext& m) : value_(static_cast<int32_t>(m.node().attributes.integer("value"))) {}
  void run(const Call& c) const override {
    for (int64_t i = 0; i < c.in[0].elements(); ++i) c.out[0].integers()[i] = c.in[0].integers()[i] + value_;
  }

 private:
  int32_t value_;
};

}  // namespace
std::unique_ptr<Kernel> make_add_constant(const BuildContext& m) { return std::make_unique<AddConstant>(m); }
}  // namespace stormcell::cpu
