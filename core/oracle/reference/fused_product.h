// Parts that linear and grouped_linear share: activation(norm(x) w^T + bias) * multiply + residual, or the residual
// before the activation.
#pragma once
#include "core/oracle/reference/activation.h"
#include "core/oracle/reference/product.h"
#include "core/oracle/reference/rms_norm.h"

namespace stormcell::reference {

/// y[rows, n] = scale * x[rows, k] w[n, k]^T. Each member of the team takes columns, so that a block of w is converted
/// once.
template <class Scalar>
void product(const Call<Scalar>& c, const Scalar* x, int64_t rows, int64_t k, const HeldWeight& w, int64_t n,
             Scalar factor, Scalar* y) {
  if (rows == 0) return;
  const AddProducts<Scalar> add_products = best_add_products<Scalar>();
  c.team.split(n, kPanel, [&](int64_t begin, int64_t end, int) {
    std::vector<Scalar> block(kDepth * kPanel), row(kDepth);
    for (int64_t first = begin; first < end; first += kPanel) {
      const int64_t width = std::min(kPanel, end - first);
      for (int64_t at = 0; at < k && !c.cancel.cancelled(); at += kDepth) {
        const int64_t depth = std::min(kDepth, k - at);
        for (int64_t j = 0; j < width; ++j) {
          w.read_unfolded((first + j) * k + at, depth, row.data());
          for (int64_t i = 0; i < depth; ++i) block[i * kPanel + j] = row[i];
        }
        add_products(x + at, k, rows, block.data(), depth, y + first, n, width);
      }
    }
  });
  c.cancel.check();
  if (const std::vector<Scalar> factors = w.factors<Scalar>(); !factors.empty())
    for (int64_t i = 0; i < rows * n; ++i) y[i] *= factors[i % n];
  if (factor != Scalar(1))
    for (int64_t i = 0; i < rows * n; ++i) y[i] *= factor;
}

/// The RMS norm that a product carries as the extra `gain`, or nothing.
template <class Scalar>
const Scalar* normed(const Call<Scalar>& c, const Scalar* x, int64_t rows, int64_t width, std::vector<Scalar>& held) {
  const auto gain = extra_input(c.node, "gain");
  if (!gain) return x;
  held.resize(rows * width);
  normalize_rows(x, rows, width, c.whole(*gain).data(), static_cast<Scalar>(c.attributes().real("eps")), held.data());
  return held.data();
}

/// Applies bias, activation, factor and residual to all rows of the product.
template <class Scalar>
void epilogue(const Call<Scalar>& c, std::vector<Scalar>& y, int64_t n) {
  if (const auto bias = extra_input(c.node, "bias")) {
    const std::vector<Scalar> b = c.whole(*bias);
    for (size_t i = 0; i < y.size(); ++i) y[i] += b[i % n];
  }
  const auto residual = extra_input(c.node, "residual");
  const auto add_residual = [&] {
    const auto& r = c.in(*residual).reals;
    for (size_t i = 0; i < y.size(); ++i) y[i] += r[i];
  };
  const bool residual_first = flag_of(c.node, "residual_first");
  if (residual && residual_first) add_residual();
  activate(y.data(), std::ssize(y), word_of(c.node, "activation"));
  if (const auto factor = extra_input(c.node, "multiply")) {
    const auto& m = c.in(*factor).reals;
    for (size_t i = 0; i < y.size(); ++i) y[i] *= m[i];
  }
  if (residual && !residual_first) add_residual();
}

}  // namespace stormcell::reference
