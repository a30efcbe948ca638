// add, multiply, scale, add_constant.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void add(const Call<Scalar>& c) {
  const auto &a = c.in(0), &b = c.in(1);
  for (size_t i = 0; i < a.reals.size(); ++i) c.out().reals[i] = a.reals[i] + b.reals[i];
}

template <class Scalar>
void multiply(const Call<Scalar>& c) {
  const auto &a = c.in(0), &b = c.in(1);
  for (size_t i = 0; i < a.reals.size(); ++i) c.out().reals[i] = a.reals[i] * b.reals[i];
}

template <class Scalar>
void scale(const Call<Scalar>& c) {
  const auto factor = static_cast<Scalar>(c.attributes().real("factor"));
  const auto& x = c.in(0).reals;
  for (size_t i = 0; i < x.size(); ++i) c.out().reals[i] = factor * x[i];
}

template <class Scalar>
void add_constant(const Call<Scalar>& c) {
  const auto value = static_cast<int32_t>(c.attributes().integer("value"));
  const auto& x = c.in(0).integers;
  for (size_t i = 0; i < x.size(); ++i) c.out().integers[i] = x[i] + value;
}

}  // namespace stormcell::reference
