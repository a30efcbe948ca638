// Parts that the kernel tests share: guarded buffers, seeded numbers, every instruction set, comparison with double
// loops.
#pragma once
#include <QString>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "core/base/thread_team.h"
#include "core/cpu/kernels/activation.h"
#include "core/cpu/kernels/isa.h"
#include "tests/testing/counts.h"

namespace stormcell::cpu::testing {

/// n elements, 64-byte aligned, between guard zones: a kernel that writes outside its output is found by intact().
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t n, T fill = T{}) : n_(n), bytes_(2 * kGuard + 64 + n * sizeof(T), kPattern) {
    const size_t misaligned = reinterpret_cast<uintptr_t>(bytes_.data() + kGuard) % 64;
    begin_ = kGuard + (misaligned ? 64 - misaligned : 0);
    for (size_t i = 0; i < n; ++i) data()[i] = fill;
  }
  Guarded(const Guarded& other) : Guarded(other.n_) { std::memcpy(data(), other.data(), n_ * sizeof(T)); }
  Guarded& operator=(const Guarded&) = delete;
  T* data() { return reinterpret_cast<T*>(bytes_.data() + begin_); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data() + begin_); }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  size_t size() const { return n_; }
  bool intact() const {
    for (size_t i = 0; i < bytes_.size(); ++i)
      if ((i < begin_ || i >= begin_ + n_ * sizeof(T)) && bytes_[i] != kPattern) return false;
    return true;
  }
  bool operator==(const Guarded& other) const {
    return n_ == other.n_ && std::memcmp(data(), other.data(), n_ * sizeof(T)) == 0;
  }

 private:
  static constexpr size_t kGuard = 1024;
  static constexpr unsigned char kPattern = 0xa5;
  size_t n_, begin_ = 0;
  std::vector<unsigned char> bytes_;
};
using Floats = Guarded<float>;
using Scratch = Guarded<std::byte>;

/// Seeded uniform numbers in [-1, 1).
inline Floats random_floats(size_t n, unsigned seed, float scale = 1) {
  stormcell::testing::Drawn<std::mt19937> engine(seed);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  Floats values(n);
  for (size_t i = 0; i < n; ++i) values[i] = uniform(engine);
  return values;
}

/// All that change anything.
inline constexpr Activation kActivations[] = {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh,
                                              Activation::silu, Activation::tanh,     Activation::sigmoid};

/// Runs f with each instruction set that this machine has; restores the usual one.
template <class F>
void for_each_isa(F&& f) {
  for (const Isa isa : available_isas()) {
    set_isa_for_test(isa);
    f(isa);
  }
  set_isa_for_test({});
}

/// The worst element against the reference: empty if |actual - expected| <= tolerance everywhere, else a sentence.
inline QString worst(const float* actual, const std::vector<double>& expected, const std::vector<double>& tolerance,
                     const QString& where) {
  double most = 1;
  QString text;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::fabs(double{actual[i]} - expected[i]) / tolerance[i];
    if (error > most || std::isnan(error)) {
      most = std::isnan(error) ? HUGE_VAL : error;
      text = QString("%1: element %2 is %3, expected %4, %5 times the tolerance")
                 .arg(where)
                 .arg(i)
                 .arg(double{actual[i]})
                 .arg(expected[i])
                 .arg(most);
    }
  }
  return text;
}
inline QString worst(const float* actual, const std::vector<double>& expected, double tolerance, const QString& where) {
  return worst(actual, expected, std::vector<double>(expected.size(), tolerance), where);
}

inline constexpr double kEpsilon = 0x1p-24;  // half a unit in the last place of f32

}  // namespace stormcell::cpu::testing
