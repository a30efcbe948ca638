// Numbers of the field of 2^61 - 1 elements. In them the oracle computes without rounding: two plans that compute the
// same give the same residues, in whatever order they sum.
//
// - A finite float is a whole number times a power of two, so it has a residue. Stored weights, attributes and the
//   weights of choices are converted exactly.
// - +, -, * and / are the field's own. Square roots, exponentials and the like have no meaning in it. A pseudo-random
//   function of the argument, fixed for good, stands for each: equal arguments give equal results, others unrelated
//   ones.
// - max() and is_above() go by a pseudo-random order of all residues. So what is true only of the order of numbers is
//   not true here, for example that max(x, 0) is not negative. ReLU is not written as max(x, 0): 0 often ranks below
//   nearly all residues, max(x, 0) would be x, and a plan that leaves the activation out would pass.
// - There is no operator <: a kernel must say which of these functions it means.
//
// A wrong plan passes a run with a probability of about d / 2^61, where d is the degree of what it computes as a
// polynomial, if the inputs are drawn from the whole field (Schwartz, J. ACM 27(4), 1980).
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>

#include "core/base/error.h"

namespace stormcell {

class Residue {
 public:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

  constexpr Residue() = default;
  /// Implicit, so that kernels may write 0 and 1.
  constexpr Residue(std::integral auto whole) : element_(element_of(whole)) {}
  /// Error(bad_input) for NaN and infinity.
  explicit Residue(double real) {
    if (!std::isfinite(real)) bad_input("residue", "expected a finite number, got NaN or infinity");
    int exponent = 0;
    const double fraction = std::frexp(real, &exponent);
    *this = Residue(static_cast<int64_t>(std::ldexp(fraction, 53))) * power_of_two(exponent - 53);
  }
  explicit Residue(float real) : Residue(static_cast<double>(real)) {}

  /// 0 to kPrime - 1.
  constexpr uint64_t element() const { return element_; }
  /// The residue of a 64-bit number, such as a random one.
  static constexpr Residue of_bits(uint64_t bits) { return of_element(reduced(bits)); }
  /// 0 for 0, which has no inverse.
  constexpr Residue inverse() const {
    // x^(p - 2), and p - 2 = 4 (2^59 - 1) + 1. Each power x^(2^n - 1) follows from two shorter ones.
    const auto squared = [](Residue x, int times) {
      for (; times > 0; --times) x = x * x;
      return x;
    };
    const Residue bits1 = *this, bits2 = squared(bits1, 1) * bits1, bits3 = squared(bits2, 1) * bits1;
    const Residue bits6 = squared(bits3, 3) * bits3, bits7 = squared(bits6, 1) * bits1;
    const Residue bits14 = squared(bits7, 7) * bits7, bits28 = squared(bits14, 14) * bits14;
    const Residue bits56 = squared(bits28, 28) * bits28, bits59 = squared(bits56, 3) * bits3;
    return squared(bits59, 2) * bits1;
  }

  friend constexpr Residue operator+(Residue a, Residue b) {
    const uint64_t sum = a.element_ + b.element_;
    return of_element(sum >= kPrime ? sum - kPrime : sum);
  }
  friend constexpr Residue operator-(Residue a, Residue b) {
    if (a.is_lowest()) return a;
    return of_element(a.element_ >= b.element_ ? a.element_ - b.element_ : a.element_ + kPrime - b.element_);
  }
  friend constexpr Residue operator-(Residue a) { return Residue() - a; }
  friend constexpr Residue operator*(Residue a, Residue b) {
    return of_element(reduced(static_cast<unsigned __int128>(a.element_) * b.element_));
  }
  /// Division by 0 gives 0.
  friend constexpr Residue operator/(Residue a, Residue b) { return a * b.inverse(); }
  constexpr Residue& operator+=(Residue b) { return *this = *this + b; }
  constexpr Residue& operator-=(Residue b) { return *this = *this - b; }
  constexpr Residue& operator*=(Residue b) { return *this = *this * b; }
  constexpr Residue& operator/=(Residue b) { return *this = *this / b; }
  friend constexpr bool operator==(Residue a, Residue b) { return a.element_ == b.element_; }

  // The functions that core/oracle/scalar.h declares for floats.
  friend constexpr Residue exp(Residue x) { return x.is_lowest() ? Residue() : drawn(Function::exp, x); }
  friend constexpr Residue sqrt(Residue x) { return drawn(Function::sqrt, x); }
  friend constexpr Residue erf(Residue x) { return drawn(Function::erf, x); }
  friend constexpr Residue tanh(Residue x) { return drawn(Function::tanh, x); }
  friend constexpr Residue positive_part(Residue x) { return drawn(Function::positive_part, x); }
  friend constexpr Residue at_least(Residue x, Residue limit) { return drawn(Function::at_least, x, limit); }
  friend constexpr Residue at_most(Residue x, Residue limit) { return drawn(Function::at_most, x, limit); }
  /// A drawn value instead of rounding; rounding twice differs from rounding once.
  friend constexpr Residue to_bf16(Residue x) { return drawn(Function::to_bf16, x); }
  friend constexpr Residue lowest(Residue) { return of_element(kPrime); }
  friend constexpr bool is_above(Residue a, Residue b) {
    if (a.is_lowest() || b.is_lowest()) return !a.is_lowest();
    return hash(Function::order, a.element_) > hash(Function::order, b.element_);
  }
  friend constexpr Residue max(Residue a, Residue b) { return is_above(b, a) ? b : a; }
  /// A score from -8 to 8, with 24 bits: wide enough that a softmax over a few of them is sometimes nearly 1.
  friend constexpr float to_score(Residue x) {
    return static_cast<float>(hash(Function::score, x.element_) >> 40) * 0x1p-20f - 8.0f;
  }

 private:
  /// The functions that are drawn: each has a number of its own, so that they differ.
  enum class Function : uint64_t { exp = 1, sqrt, erf, tanh, positive_part, at_least, at_most, to_bf16, order, score };

  constexpr bool is_lowest() const { return element_ == kPrime; }
  static constexpr Residue of_element(uint64_t element) {
    Residue r;
    r.element_ = element;
    return r;
  }
  static constexpr uint64_t element_of(__int128 whole) {
    const __int128 rest = whole % static_cast<__int128>(kPrime);
    return static_cast<uint64_t>(rest < 0 ? rest + static_cast<__int128>(kPrime) : rest);
  }
  /// Reduces a number below 2^122, by 2^61 = 1.
  static constexpr uint64_t reduced(unsigned __int128 x) {
    const uint64_t sum = static_cast<uint64_t>(x & kPrime) + static_cast<uint64_t>(x >> 61);
    return sum >= kPrime ? sum - kPrime : sum;
  }
  static constexpr Residue power_of_two(int exponent) {
    const int among = exponent % 61;
    return of_element(uint64_t{1} << (among < 0 ? among + 61 : among));
  }

  /// A bijection: the last steps of splitmix64 (Steele et al., OOPSLA'14).
  static constexpr uint64_t mixed(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  static constexpr uint64_t hash(Function f, uint64_t x) {
    return mixed(x ^ mixed(static_cast<uint64_t>(f) * 0x9e3779b97f4a7c15ull));
  }
  static constexpr Residue drawn(Function f, Residue x) { return of_bits(hash(f, x.element_)); }
  static constexpr Residue drawn(Function f, Residue x, Residue y) {
    return of_bits(hash(f, hash(f, x.element_) + y.element_));
  }

  uint64_t element_ = 0;
};

}  // namespace stormcell
