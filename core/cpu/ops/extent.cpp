#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Extent : public Kernel {
 public:
  explicit Extent(const BuildContext& m)
      : extent_(Dim::parse(m.node().attributes.word("extent"), m.graph().symbols, "extent")) {}
  void run(const Call& c) const override { *c.out[0].integers() = static_cast<int32_t>(extent_.evaluate(c.bindings)); }

 private:
  Dim extent_;
};

}  // namespace
std::unique_ptr<Kernel> make_extent(const BuildContext& m) { return std::make_unique<Extent>(m); }
}  // namespace stormcell::cpu
