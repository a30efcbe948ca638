// Sums of products for a row of outputs, side by side.
#pragma once
#include <cstdint>
#include <vector>

#include "core/oracle/residue.h"

namespace stormcell::reference {

/// Adds to the row itself, product by product.
template <class Scalar>
class RowSums {
 public:
  explicit RowSums(int64_t /*outputs*/) {}
  void begin(Scalar* row) { row_ = row; }
  /// `value` times each of `n` weights, to the outputs from `first` on.
  void add(Scalar value, const Scalar* weights, int64_t first, int64_t n) {
    Scalar* to = row_ + first;
    for (int64_t o = 0; o < n; ++o) to[o] += value * weights[o];
  }
  void end() {}

 private:
  Scalar* row_ = nullptr;
};

/// Whole products are summed and reduced late, which takes half the time.
template <>
class RowSums<Residue> {
 public:
  explicit RowSums(int64_t outputs) : sums_(outputs) {}
  void begin(Residue* row) {
    row_ = row;
    for (size_t o = 0; o < sums_.size(); ++o) sums_[o] = row[o].element();
    added_ = 0;
  }
  void add(Residue value, const Residue* weights, int64_t first, int64_t n) {
    if (++added_ == kMostProducts) reduce();
    const uint64_t factor = value.element();
    Sum* to = sums_.data() + first;
    for (int64_t o = 0; o < n; ++o) to[o] += static_cast<Sum>(factor) * weights[o].element();
  }
  void end() {
    reduce();
    for (size_t o = 0; o < sums_.size(); ++o)
      row_[o] = Residue::of_bits(static_cast<uint64_t>(sums_[o] & Residue::kPrime)) +
                Residue::of_bits(static_cast<uint64_t>(sums_[o] >> 61));
  }

 private:
  using Sum = unsigned __int128;
  /// A product is below 2^122, so that 63 of them and what reduce() leaves are below 2^128.
  static constexpr int kMostProducts = 63;

  void reduce() {
    // 2^61 is 1. What is left is below 2^68.
    for (Sum& sum : sums_) sum = (sum & Residue::kPrime) + (sum >> 61);
    added_ = 0;
  }

  Residue* row_ = nullptr;
  std::vector<Sum> sums_;
  int added_ = 0;
};

}  // namespace stormcell::reference
