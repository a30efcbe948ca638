#include <algorithm>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

/// Weights of the cells that choices sent.
class ChoiceWeight : public Kernel {
 public:
  explicit ChoiceWeight(const BuildContext& m)
      : branch_(m.graph().space(SpaceId(m.node().attributes.integer("space"))).branch) {}
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[0].decision;
    std::copy_n(d.weight + (branch_ == kAllBranches ? 0 : d.offsets[branch_]), c.out[0].rows, c.out[0].reals());
  }

 private:
  int32_t branch_;
};

/// Weights of one branch for all cells; 0 for cells that did not choose it.
class WeightOfBranch : public Kernel {
 public:
  explicit WeightOfBranch(int32_t branch) : branch_(branch) {}
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[0].decision;
    float* out = c.out[0].reals();
    for (int64_t cell = 0; cell < c.out[0].rows; ++cell) {
      const int32_t* choice = d.choice + cell * d.fan_out;
      const int32_t* mine = std::find(choice, choice + d.fan_out, branch_);
      out[cell] = mine == choice + d.fan_out ? 0.0f : d.choice_weight[cell * d.fan_out + (mine - choice)];
    }
  }

 private:
  int32_t branch_;
};

}  // namespace
std::unique_ptr<Kernel> make_choice_weight(const BuildContext& m) {
  const Attributes& attributes = m.node().attributes;
  if (attributes.has("branch"))
    return std::make_unique<WeightOfBranch>(static_cast<int32_t>(attributes.integer("branch")));
  return std::make_unique<ChoiceWeight>(m);
}
}  // namespace stormcell::cpu
