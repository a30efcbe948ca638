#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class BranchesFull : public Kernel {
 public:
  explicit BranchesFull(const BuildContext& m) : branches_(m.node().attributes.list("branches")) {}
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[0].decision;
    int32_t full = 1;
    for (const int64_t b : branches_) full &= d.load(static_cast<int32_t>(b)) == *d.cells;
    *c.out[0].integers() = full;
  }

 private:
  std::vector<int64_t> branches_;
};

}  // namespace
std::unique_ptr<Kernel> make_branches_full(const BuildContext& m) { return std::make_unique<BranchesFull>(m); }
}  // namespace stormcell::cpu
