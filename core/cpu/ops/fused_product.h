// What a product takes with it: a norm before, bias, activation, product and sum behind.
#pragma once
#include "core/base/align.h"
#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/linear.h"
#include "core/cpu/kernels/norm.h"

namespace stormcell::cpu {

// What linear and grouped_linear share: a folded norm and the epilogue's operands. The rows are normalised into scratch, as the norm alone
// would do it: the weights stay as every other product of them reads them, and so does the last bit of the result.
struct FusedProduct {
  std::optional<size_t> gain, bias, multiply, residual;
  int32_t gain_handle = -1, bias_handle = -1;
  float eps, scale;
  Activation activation;
  bool to_bf16 = false;

  /// Rows in bf16 are read two elements at a time; a folded norm reads f32.
  static bool supports(const Making& m, size_t fixed) {
    return m.reads(0) != DType::bf16 || (m.type(0).content[0].constant() % 2 == 0 && !extra_input(m.node(), "gain", fixed));
  }

  FusedProduct(const Making& m, size_t fixed)
      : gain(extra_input(m.node(), "gain", fixed)),
        bias(extra_input(m.node(), "bias", fixed)),
        multiply(extra_input(m.node(), "multiply", fixed)),
        residual(extra_input(m.node(), "residual", fixed)),
        eps(gain ? static_cast<float>(m.node().attributes.real("eps")) : 0.0f),
        scale(static_cast<float>(real_of(m.node(), "scale"))),
        activation(parse_activation(word_of(m.node(), "activation"))) {
    to_bf16 = m.writes(0) == DType::bf16;
    if (gain) gain_handle = m.f32_weight(*gain);
    if (bias) bias_handle = m.f32_weight(*bias);
  }

  int64_t norm_bytes(const Making& m, int64_t k) const { return gain ? align_up(m.most_rows(0) * k * 4) : 0; }
  /// The rows to multiply; `scratch` has norm_bytes().
  const float* rows(const Call& c, std::byte* scratch) const {
    if (!gain) return c.in[0].reals();
    auto* normed = reinterpret_cast<float*>(scratch);
    rms_norm(c.team, c.in[0].reals(), c.in[0].rows, c.in[0].width, reinterpret_cast<const float*>(c.weights.address(gain_handle).value),
             eps, normed);
    return normed;
  }

  Epilogue epilogue(const Call& c) const {
    Epilogue e;
    if (bias) e.bias = reinterpret_cast<const float*>(c.weights.address(bias_handle).value);
    e.activation = activation;
    if (multiply) e.multiply = c.in[*multiply].reals();
    if (residual) e.residual = c.in[*residual].reals();
    e.ld_extra = c.out[0].width;
    e.scale = scale;
    e.to_bf16 = to_bf16;
    return e;
  }
};

}  // namespace stormcell::cpu
