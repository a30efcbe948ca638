// activation: relu, gelu (exact), gelu_tanh, silu, tanh, sigmoid.
#pragma once
#include <string_view>

#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void activate(Scalar* x, int64_t n, std::string_view kind) {
  if (kind == "relu") {
    for (int64_t i = 0; i < n; ++i) x[i] = positive_part(x[i]);
  } else if (kind == "gelu") {
    for (int64_t i = 0; i < n; ++i)
      x[i] = x[i] * Scalar(0.5) * (Scalar(1) + erf(x[i] * Scalar(0.70710678118654752440)));
  } else if (kind == "gelu_tanh") {
    for (int64_t i = 0; i < n; ++i) {
      const Scalar inner = Scalar(0.79788456080286535588) * (x[i] + Scalar(0.044715) * x[i] * x[i] * x[i]);
      x[i] = Scalar(0.5) * x[i] * (Scalar(1) + tanh(inner));
    }
  } else if (kind == "silu") {
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] / (Scalar(1) + exp(-x[i]));
  } else if (kind == "tanh") {
    for (int64_t i = 0; i < n; ++i) x[i] = tanh(x[i]);
  } else if (kind == "sigmoid") {
    for (int64_t i = 0; i < n; ++i) x[i] = Scalar(1) / (Scalar(1) + exp(-x[i]));
  } else if (kind != "none" && !kind.empty()) {
    bad_input("activation", "expected none, relu, gelu, gelu_tanh, silu, tanh or sigmoid, got " + std::string(kind));
  }
}

template <class Scalar>
void activation(const Call<Scalar>& c) {
  c.out().reals = c.in(0).reals;
  activate(c.out().reals.data(), std::ssize(c.out().reals), c.attributes().word("kind"));
}

}  // namespace stormcell::reference
