// A product as its definition says, row by row on weights that nobody packed: what the panels are measured against.
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"
#include "core/cpu/ops/fused_product.h"

namespace stormcell::cpu {
namespace {

class LinearPlain : public Kernel {
 public:
  explicit LinearPlain(const Making& m)
      : fused_(m),
        weight_(m.branch_weight(1, "plain_f32", DType::f32)),
        n_(m.type(1).content[0].constant()),
        k_(m.type(1).content[1].constant()) {
    fused_.set_product(m, DType::f32, k_);
  }
  int64_t scratch_bytes() const override { return fused_.norm_bytes; }
  void run(const Call& c) const override {
    const float* x = fused_.rows(c, c.scratch).f32;
    const float* w = c.floats(weight_);
    const Epilogue e = fused_.epilogue(c);
    split_rows(c.team, c.in[0].rows, n_ * k_, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row(x + r * k_, w, e, r, c.out[0].reals() + r * n_);
    });
  }

 private:
  /// Rows are never rounded, whatever the weights' format.
  void row(const float* x, const float* w, const Epilogue& e, int64_t r, float* y) const {
    constexpr int64_t kSums = 16;  // of a vector's lanes: one chain over k would wait for each addition
    for (int64_t i = 0; i < n_; ++i, w += k_) {
      float sums[kSums] = {}, sum = 0;
      int64_t j = 0;
      for (; j + kSums <= k_; j += kSums)
        for (int64_t l = 0; l < kSums; ++l) sums[l] += x[j + l] * w[j + l];
      for (; j < k_; ++j) sum += x[j] * w[j];
      for (const float part : sums) sum += part;
      y[i] = sum * e.scale + (e.bias ? e.bias[i] : 0.0f);
    }
    const KernelTable& table = kernels();
    if (e.residual && e.residual_first) table.add(y, e.residual + r * e.ld_extra, n_, y);
    table.activate(e.activation, y, n_, y);
    if (e.multiply) table.multiply(y, e.multiply + r * e.ld_extra, n_, y);
    if (e.residual && !e.residual_first) table.add(y, e.residual + r * e.ld_extra, n_, y);
  }

  FusedProduct fused_;
  WeightHandle weight_;
  int64_t n_, k_;
};

}  // namespace
std::unique_ptr<Kernel> make_linear_plain(const Making& m) { return std::make_unique<LinearPlain>(m); }
}  // namespace stormcell::cpu
