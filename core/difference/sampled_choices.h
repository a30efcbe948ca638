// Choices of the sampled cells side by side: what the tests of causes look at.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/difference/difference_counter.h"

namespace stormcell {

/// One router's choices of all sampled cells of a stack.
struct ChoiceColumn {
  std::vector<int32_t> ids;
  std::vector<int32_t> begin;  ///< [cells + 1]
  std::span<const int32_t> of(int64_t cell) const {
    return std::span(ids).subspan(static_cast<size_t>(begin[cell]), static_cast<size_t>(begin[cell + 1] - begin[cell]));
  }
  bool empty() const { return begin.empty(); }
};

/// The sampled cells of one stack of b.
struct SampledStack {
  std::vector<SampledCell> cells;
  int32_t stack_a = 0;
  std::vector<ChoiceColumn> a;    ///< by router of a; empty: it is of another stack
  std::vector<ChoiceColumn> b;    ///< by router of b, the same
  std::vector<RouterPair> pairs;  ///< of this stack, in the order of a
};

struct SampledChoices {
  std::vector<SampledStack> stacks;
  const CellIndex *index_a = nullptr, *index_b = nullptr;
  const ChoiceStore *store_a = nullptr, *store_b = nullptr;
  const RequestPairs* requests = nullptr;
};

SampledChoices sampled_choices(const CounterInput& input, const DifferenceCounter& counter);

/// How many ids are in both; each comes once in either.
inline int32_t common_ids(std::span<const int32_t> a, std::span<const int32_t> b) {
  int32_t common = 0;
  for (const int32_t x : a)
    for (const int32_t y : b) common += x == y;
  return common;
}
/// common_ids() as a share of the shorter list; 0: one is empty.
inline double agreement(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t fewest = std::min(a.size(), b.size());
  return fewest == 0 ? 0 : common_ids(a, b) / static_cast<double>(fewest);
}

/// Sums over cells of an agreement as recorded, and of one under a supposition.
struct PairedSums {
  int64_t n = 0;
  double as_is = 0, supposed = 0, gain = 0, gain_squares = 0;
  int64_t better = 0, worse = 0;  ///< cells that agree more under the supposition, and less
  void add(double is, double would_be) {
    ++n, as_is += is, supposed += would_be;
    better += would_be > is, worse += would_be < is;
    gain += would_be - is, gain_squares += (would_be - is) * (would_be - is);
  }
  void add(const PairedSums& more) {
    n += more.n, as_is += more.as_is, supposed += more.supposed;
    better += more.better, worse += more.worse;
    gain += more.gain, gain_squares += more.gain_squares;
  }
  /// The part of the disagreement that the supposition takes away.
  double explained() const {
    const double disagreement = static_cast<double>(n) - as_is;
    return disagreement > 0 ? gain / disagreement : 0;
  }
  /// Mean gain in units of its standard error; a gain that never varies counts by the number of cells.
  double z() const;
  /// The chance of as many better cells among those that change, or more, if either were as likely: a sign test. It
  /// needs fewer cells than z() where most of them do not change.
  double sign_chance() const;
};

}  // namespace stormcell
