#include "core/cpu/kernels/norm.h"
#include "core/cpu/ops/branch_tables.h"

namespace stormcell::cpu {
namespace {

class GroupedLayerNorm : public Kernel {
 public:
  explicit GroupedLayerNorm(const BuildContext& m)
      : rows_(m),
        gains_(m, 2, [&](size_t input) { return m.f32_weight(input); }),
        biases_(m, 2 + m.node().attributes.list("branches").size(), [&](size_t input) { return m.f32_weight(input); }),
        eps_(static_cast<float>(m.node().attributes.real("eps"))) {}
  void run(const Call& c) const override {
    GroupedNorm rows;
    rows.x = c.in[0].reals();
    rows.row_of_slot = rows_.row_of_slot(c);
    rows.offsets = rows_.offsets(c);
    rows.branches = rows_.branches();
    rows.gains = gains_.all(c);
    rows.biases = biases_.all(c);
    grouped_layer_norm(c.team, rows, c.out[0].width, eps_, c.out[0].reals());
  }

 private:
  BranchRowTable rows_;
  BranchFloats gains_, biases_;
  float eps_;
};

}  // namespace
std::unique_ptr<Kernel> make_grouped_layer_norm(const BuildContext& m) { return std::make_unique<GroupedLayerNorm>(m); }
}  // namespace stormcell::cpu
