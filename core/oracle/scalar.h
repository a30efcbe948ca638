// The functions that a reference kernel may ask of its numbers, besides +, -, *, /, == and a conversion from whole
// numbers and floats. A kernel calls these functions by their plain names. Then it compiles for floats, which have them
// here, and for Residue (core/oracle/residue.h), which has its own. A kernel that says std::sqrt, or compares with <,
// compiles for floats alone: then a library of the tests does not build.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace stormcell::reference {

/// The type for long sums: double for floats, their own for exact numbers.
template <class Scalar>
using Wide = std::conditional_t<std::is_floating_point_v<Scalar>, double, Scalar>;
/// The type for what follows from extents and attributes and not from data, such as coordinates and angles: a float
/// whatever the scalar is.
template <class Scalar>
using Coordinate = std::conditional_t<std::is_floating_point_v<Scalar>, Scalar, double>;

template <std::floating_point Real>
Real exp(Real x) {
  return std::exp(x);
}
template <std::floating_point Real>
Real sqrt(Real x) {
  return std::sqrt(x);
}
template <std::floating_point Real>
Real erf(Real x) {
  return std::erf(x);
}
template <std::floating_point Real>
Real tanh(Real x) {
  return std::tanh(x);
}

/// The larger of two numbers that come from data. The first where they are equal.
template <std::floating_point Real>
Real max(Real a, Real b) {
  return std::max(a, b);
}
template <std::floating_point Real>
bool is_above(Real a, Real b) {
  return a > b;
}
/// A number below all others: lowest() - x is lowest(), and exp(lowest()) is 0.
template <std::floating_point Real>
Real lowest(Real) {
  return -std::numeric_limits<Real>::infinity();
}

/// ReLU: x where it is above 0, else 0, also for NaN.
template <std::floating_point Real>
Real positive_part(Real x) {
  return x > 0 ? x : Real(0);
}
/// x, limited by a constant. Kernels do not use max() for this: in a field's order a constant ranks anywhere, and x
/// would often be lost.
template <std::floating_point Real>
Real at_least(Real x, Real limit) {
  return std::max(x, limit);
}
template <std::floating_point Real>
Real at_most(Real x, Real limit) {
  return std::min(x, limit);
}

/// Rounds to the nearest bf16, ties to even; NaN and infinity stay. The code is the oracle's own, so that it shares no
/// mistake with what it judges.
inline float to_bf16(float x) {
  if (!std::isfinite(x)) return x;
  const uint32_t bits = std::bit_cast<uint32_t>(x), rest = bits & 0xffffu, kept = bits - rest;
  const bool up = rest > 0x8000u || (rest == 0x8000u && (kept & 0x10000u) != 0);
  return std::bit_cast<float>(up ? kept + 0x10000u : kept);
}
inline double to_bf16(double x) { return static_cast<double>(to_bf16(static_cast<float>(x))); }

/// The score that a protocol decides by: protocols are defined on f32.
template <std::floating_point Real>
float to_score(Real x) {
  return static_cast<float>(x);
}

}  // namespace stormcell::reference
