#include "core/cpu/kernels/linear.h"

#include "core/base/number_format.h"
#include "core/cpu/ops/fused_product.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"

namespace stormcell::cpu {
namespace {

class Linear : public Kernel {
 public:
  explicit Linear(const BuildContext& m)
      : fused_(m),
        weight_(m.panel_weight(1, flag_of(m.node(), "precise"))),
        n_(m.type(1).content[0].constant()),
        k_(m.type(1).content[1].constant()),
        dtype_(m.weights.key(weight_).dtype) {
    fused_.set_product(m, dtype_, k_);
    const size_t product = linear_scratch_bytes(m.most_rows(0), k_, dtype_, m.threads, fused_.x_dtype());
    scratch_ = fused_.norm_bytes + static_cast<int64_t>(product);
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    if (c.in[0].rows == 0) return;
    const PackedWeight w{reinterpret_cast<const std::byte*>(c.weights.address(weight_).value), n_, k_, dtype_};
    const FusedProduct::ProductRows x = fused_.rows(c, c.scratch);
    std::byte* const scratch = c.scratch + fused_.norm_bytes;
    if (x.bf16) {
      linear(c.team, x.bf16, k_, c.in[0].rows, w, fused_.epilogue(c), c.out[0].data, n_, scratch);
    } else {
      linear(c.team, x.f32, k_, c.in[0].rows, w, fused_.epilogue(c), c.out[0].data, n_, scratch);
    }
  }

 private:
  FusedProduct fused_;
  WeightHandle weight_;
  int64_t n_, k_;
  DType dtype_;
  int64_t scratch_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_linear(const BuildContext& m) {
  if (block_kernels(m.type(1).dtype)) return nullptr;  // nothing packs them
  // A product that must not round its input has no panels in bf16.
  const bool rounds = m.value(1).annotations.find(kFormat) && format_of(format_in_products(m.value(1))).own_products;
  if (!FusedProduct::supports(m) || (rounds && is_precise(m.node()))) return nullptr;
  return std::make_unique<Linear>(m);
}
/// Weights in blocks are multiplied by as they are stored, and never round x.
std::unique_ptr<Kernel> make_linear_blocks(const BuildContext& m) {
  if (!block_kernels(m.type(1).dtype) || !FusedProduct::supports(m)) return nullptr;
  return std::make_unique<Linear>(m);
}
}  // namespace stormcell::cpu
