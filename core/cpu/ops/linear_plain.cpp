// A product as its definition says, row by row on weights that nobody packed: what the panels are measured against, and
// the kernel of weights in blocks, which have no panels.
#include "core/base/number_format.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"
#include "core/cpu/ops/fused_product.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

class LinearPlain : public Kernel {
 public:
  explicit LinearPlain(const BuildContext& m)
      : fused_(m),
        format_(plain_format(m.type(1).dtype)),
        dot_(find_kernels(format_)->dot),
        weight_(m.branch_weight(1, format_ == DType::f32 ? kPlainF32Layout : kPlainLayout, format_)),
        n_(m.type(1).content[0].constant()),
        k_(m.type(1).content[1].constant()),
        weight_row_(stormcell::row_bytes(format_, k_)) {
    fused_.set_product(m, DType::f32, k_);
  }
  int64_t scratch_bytes() const override { return fused_.norm_bytes; }
  void run(const Call& c) const override {
    const float* x = fused_.rows(c, c.scratch).f32;
    const auto* w = reinterpret_cast<const std::byte*>(c.weights.address(weight_).value);
    const Epilogue e = fused_.epilogue(c);
    split_rows(c.team, c.in[0].rows, n_ * k_, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row(x + r * k_, w, e, r, c.out[0].reals() + r * n_);
    });
  }

 private:
  /// Rows are never rounded, whatever the weights' format.
  void row(const float* x, const std::byte* w, const Epilogue& e, int64_t r, float* y) const {
    for (int64_t i = 0; i < n_; ++i, w += weight_row_) y[i] = dot_(x, w, k_) * e.scale + (e.bias ? e.bias[i] : 0.0f);
    const KernelTable& table = kernels();
    if (e.residual && e.residual_first) table.add(y, e.residual + r * e.ld_extra, n_, y);
    table.activate(e.activation, y, n_, y);
    if (e.multiply) table.multiply(y, e.multiply + r * e.ld_extra, n_, y);
    if (e.residual && !e.residual_first) table.add(y, e.residual + r * e.ld_extra, n_, y);
  }

  FusedProduct fused_;
  DType format_;
  float (*dot_)(const float* x, const std::byte* row, int64_t n);
  WeightHandle weight_;
  int64_t n_, k_, weight_row_;
};

}  // namespace
std::unique_ptr<Kernel> make_linear_plain(const BuildContext& m) { return std::make_unique<LinearPlain>(m); }
}  // namespace stormcell::cpu
