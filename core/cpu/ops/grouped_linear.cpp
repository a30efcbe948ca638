#include "core/cpu/kernels/grouped_linear.h"

#include <algorithm>

#include "core/cpu/ops/branch_tables.h"
#include "core/cpu/ops/fused_product.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"

namespace stormcell::cpu {
namespace {

class GroupedLinear : public Kernel {
 public:
  explicit GroupedLinear(const BuildContext& m)
      : branches_(m.node().attributes.list("branches")),
        fused_(m),
        rows_(m),
        n_(m.type(2).content[0].constant()),
        k_(m.type(2).content[1].constant()) {
    for (size_t i = 0; i < branches_.size(); ++i) handles_.push_back(m.panel_weight(2 + i, false));
    for (size_t i = branches_.size(); i < owned_inputs(m.node()); ++i) bias_handles_.push_back(m.f32_weight(2 + i));
    dtype_ = m.weights.key(handles_[0]).dtype;
    packed_.resize(branches_.size());
    table_.resize(m.value(1).branches, nullptr);
    biases_.resize(table_.size(), nullptr);
    slots_ = m.program.dims[m.program.operands[m.step.outputs[0]].rows].evaluate(m.bounds);
    fused_.set_product(m, dtype_, k_);
    scratch_ = fused_.norm_bytes +
               static_cast<int64_t>(grouped_linear_scratch_bytes(slots_, k_, dtype_, m.threads, fused_.x_dtype()));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    // Nothing else runs between the waves of a step: what the first has left in scratch is there.
    const auto is_computed = [&](int64_t b) { return c.computed && c.computed[b]; };
    const bool normed = std::any_of(branches_.begin(), branches_.end(), is_computed);
    // Addresses are looked up at each run: weights come and go between waves. Rows that are not of this wave are left
    // untouched.
    for (size_t i = 0; i < branches_.size(); ++i) {
      const size_t branch = branches_[i];
      packed_[i] = {reinterpret_cast<const std::byte*>(c.weights.address(handles_[i]).value), n_, k_, dtype_};
      table_[branch] = packed_[i].data && !is_computed(branches_[i]) ? &packed_[i] : nullptr;
      if (!bias_handles_.empty()) biases_[branch] = c.floats(bias_handles_[i]);
    }
    GroupedRows rows;
    const FusedProduct::ProductRows x = fused_.rows(c, c.scratch, normed);
    rows.x = x.f32, rows.x_bf16 = x.bf16;
    rows.ldx = k_;
    rows.row_of_slot = rows_.row_of_slot(c);
    rows.offsets = rows_.offsets(c);
    rows.branches = rows_.branches();
    rows.weights = table_.data();
    if (!bias_handles_.empty()) rows.biases = biases_.data();
    grouped_linear(c.team, rows, fused_.epilogue(c), c.out[0].data, n_, c.scratch + fused_.norm_bytes);
  }

 private:
  std::vector<int64_t> branches_;
  FusedProduct fused_;
  BranchRowTable rows_;
  int64_t n_, k_, slots_ = 0, scratch_ = 0;
  DType dtype_ = DType::f32;
  std::vector<WeightHandle> handles_, bias_handles_;
  mutable std::vector<PackedWeight> packed_;  // refilled by each run; a kernel runs on one stream at a time
  mutable std::vector<const PackedWeight*> table_;
  mutable std::vector<const float*> biases_;
};

}  // namespace
std::unique_ptr<Kernel> make_grouped_linear(const BuildContext& m) {
  if (block_kernels(m.type(2).dtype)) return nullptr;  // nothing packs them
  const size_t branches = m.node().attributes.list("branches").size();
  // One product over all branches multiplies in one format.
  for (size_t i = 1; i < branches; ++i)
    if (format_in_products(m.value(2 + i)) != format_in_products(m.value(2))) return nullptr;
  if (!FusedProduct::supports(m)) return nullptr;
  return std::make_unique<GroupedLinear>(m);
}
std::unique_ptr<Kernel> make_grouped_linear_blocks(const BuildContext& m) {
  if (!block_kernels(m.type(2).dtype) || !FusedProduct::supports(m)) return nullptr;
  return std::make_unique<GroupedLinear>(m);
}
}  // namespace stormcell::cpu
