#include <algorithm>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class ChoiceWeight : public Kernel {
 public:
  explicit ChoiceWeight(const Making& m) : branch_(m.graph().space(SpaceId(m.node().attributes.integer("space"))).branch) {}
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[0].decision;
    std::copy_n(d.weight + (branch_ == kAllBranches ? 0 : d.offsets[branch_]), c.out[0].rows, c.out[0].reals());
  }

 private:
  int32_t branch_;
};

}  // namespace
std::unique_ptr<Kernel> make_choice_weight(const Making& m) { return std::make_unique<ChoiceWeight>(m); }
}  // namespace stormcell::cpu
