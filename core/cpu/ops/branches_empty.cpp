#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class BranchesEmpty : public Kernel {
 public:
  explicit BranchesEmpty(const BuildContext& m) : branches_(m.node().attributes.list("branches")) {}
  void run(const Call& c) const override {
    int32_t empty = 1;
    for (const int64_t b : branches_) empty &= c.in[0].decision->load(static_cast<int32_t>(b)) == 0;
    *c.out[0].integers() = empty;
  }

 private:
  std::vector<int64_t> branches_;
};

}  // namespace
std::unique_ptr<Kernel> make_branches_empty(const BuildContext& m) { return std::make_unique<BranchesEmpty>(m); }
}  // namespace stormcell::cpu
