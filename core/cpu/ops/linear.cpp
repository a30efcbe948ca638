#include "core/cpu/kernels/linear.h"

#include "core/cpu/ops/fused_product.h"
#include "core/graph/roles.h"

namespace stormcell::cpu {
namespace {

class Linear : public Kernel {
 public:
  explicit Linear(const Making& m)
      : fused_(m, 2),
        weight_(m.panel_weight(1, flag_of(m.node(), "precise"))),
        n_(m.type(1).content[0].constant()),
        k_(m.type(1).content[1].constant()),
        dtype_(m.weights.key(weight_).dtype),
        from_bf16_(m.reads(0) == DType::bf16),
        norm_(fused_.norm_bytes(m, k_)),
        scratch_(norm_ + static_cast<int64_t>(linear_scratch_bytes(m.most_rows(0), k_, dtype_, m.threads, m.reads(0)))) {}
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    if (c.in[0].rows == 0) return;
    const PackedWeight w{reinterpret_cast<const std::byte*>(c.weights.address(weight_).value), n_, k_, dtype_};
    if (from_bf16_) {
      linear(c.team, c.in[0].halves(), k_, c.in[0].rows, w, fused_.epilogue(c), c.out[0].data, n_, c.scratch + norm_);
    } else {
      linear(c.team, fused_.rows(c, c.scratch), k_, c.in[0].rows, w, fused_.epilogue(c), c.out[0].data, n_, c.scratch + norm_);
    }
  }

 private:
  FusedProduct fused_;
  int32_t weight_;
  int64_t n_, k_;
  DType dtype_;
  bool from_bf16_;
  int64_t norm_, scratch_;
};

}  // namespace
std::unique_ptr<Kernel> make_linear(const Making& m) {
  // What must not round its input has no panels in bf16.
  const bool rounds = m.value(1).annotations.find(kFormat) && held_format(m.value(1)) == DType::bf16;
  if (!FusedProduct::supports(m, 2) || (rounds && is_precise(m.node()))) return nullptr;
  return std::make_unique<Linear>(m);
}
}  // namespace stormcell::cpu
