// Operations fused into a product: a norm before; bias, activation, product and sum behind.
#pragma once
#include "core/base/align.h"
#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/linear.h"
#include "core/cpu/kernels/norm.h"

namespace stormcell::cpu {

// Common parts of linear and grouped_linear: a folded norm and the epilogue's operands. The rows are normalised into
// scratch, as the norm alone would do it: the weights stay as every other product of them reads them, and so does the
// last bit of the result.
struct FusedProduct {
  std::optional<size_t> gain, bias, multiply, residual;
  WeightHandle gain_handle, bias_handle;
  float eps, scale;
  Activation activation;
  bool residual_first;
  bool to_bf16 = false, reads_bf16 = false;
  DType x_format = DType::f32;  ///< format of the rows that are multiplied
  int64_t norm_bytes = 0;

  /// Rows in bf16 are read two elements at a time; a folded norm reads f32.
  static bool supports(const BuildContext& m) {
    return !m.reads_halves(0) || (m.type(0).content[0].constant() % 2 == 0 && !extra_input(m.node(), "gain"));
  }

  explicit FusedProduct(const BuildContext& m)
      : gain(extra_input(m.node(), "gain")),
        bias(extra_input(m.node(), "bias")),
        multiply(extra_input(m.node(), "multiply")),
        residual(extra_input(m.node(), "residual")),
        eps(gain ? static_cast<float>(m.node().attributes.real("eps")) : 0.0f),
        scale(static_cast<float>(real_of(m.node(), "scale"))),
        activation(parse_activation(word_of(m.node(), "activation"))),
        residual_first(flag_of(m.node(), "residual_first")) {
    to_bf16 = m.writes_halves(0);
    if (gain) gain_handle = m.f32_weight(*gain);
    if (bias) bias_handle = m.f32_weight(*bias);
  }

  /// Prepares products with weights in `dtype`, of rows of `k`: a norm rounds its rows as it stores them if the product
  /// would.
  void set_product(const BuildContext& m, DType dtype, int64_t k) {
    const bool rounds = rounds_rows_of_x(dtype) && k % 2 == 0;
    x_format = m.reads_halves(0) ? m.reads(0) : gain && rounds ? dtype : DType::f32;
    reads_bf16 = is_halves(x_format);
    norm_bytes =
        gain ? align_up(m.most_rows(0) * k * static_cast<int64_t>(reads_bf16 ? sizeof(uint16_t) : sizeof(float))) : 0;
  }
  DType x_dtype() const { return x_format; }
  /// The rows to multiply, in one of the formats; `scratch` has norm_bytes. `normed`: a wave before has left them
  /// there.
  struct ProductRows {
    const float* f32 = nullptr;
    const uint16_t* bf16 = nullptr;
  };
  ProductRows rows(const Call& c, std::byte* scratch, bool normed = false) const {
    const Rows& x = c.in[0];
    if (!gain) return reads_bf16 ? ProductRows{nullptr, x.halves()} : ProductRows{x.reals(), nullptr};
    const float* weight = c.floats(gain_handle);
    if (reads_bf16) {
      auto* rows = reinterpret_cast<uint16_t*>(scratch);
      if (!normed) rms_norm(c.team, x.reals(), x.rows, x.width, weight, eps, rows);
      return {nullptr, rows};
    }
    auto* rows = reinterpret_cast<float*>(scratch);
    if (!normed) rms_norm(c.team, x.reals(), x.rows, x.width, weight, eps, rows);
    return {rows, nullptr};
  }

  Epilogue epilogue(const Call& c) const {
    Epilogue e;
    if (bias) e.bias = c.floats(bias_handle);
    e.activation = activation;
    if (multiply) e.multiply = c.in[*multiply].reals();
    if (residual) e.residual = c.in[*residual].reals();
    e.residual_first = residual_first;
    e.ld_extra = c.out[0].width;
    e.scale = scale;
    e.to_bf16 = to_bf16;
    return e;
  }
};

}  // namespace stormcell::cpu
