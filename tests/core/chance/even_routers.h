// Routers that are even, or skewed by a stated amount: each choice drawn.
#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "core/profile/loads.h"

namespace stormcell::testing {

/// Sets of k branches. Branch 0 weighs 1 + `hot` times as much as each other one.
class SkewedRouter {
 public:
  SkewedRouter(int32_t branches, int32_t k, double hot = 0) : branches_(branches), k_(k), hot_(hot), chosen_(k) {}

  template <class Engine>
  const std::vector<int32_t>& draw(Engine& random) {
    const double others = branches_ - 1, weight = 1 + hot_;
    bool has_hot = false;
    for (int32_t i = 0; i < k_; ++i) {
      // Those of the others that are not taken, and branch 0 if it is not.
      const double left = others - (i - has_hot), all = left + (has_hot ? 0 : weight);
      if (!has_hot && uniform(random) * all < weight) {
        chosen_[i] = 0, has_hot = true;
        continue;
      }
      do {
        chosen_[i] = 1 + static_cast<int32_t>(uniform(random) * others);
      } while (std::find(chosen_.begin(), chosen_.begin() + i, chosen_[i]) != chosen_.begin() + i);
    }
    return chosen_;
  }

  template <class Engine>
  std::vector<int64_t> loads(Engine& random, int64_t cells) {
    std::vector<int64_t> load(branches_);
    for (int64_t c = 0; c < cells; ++c)
      for (const int32_t b : draw(random)) ++load[b];
    return load;
  }

 private:
  template <class Engine>
  static double uniform(Engine& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
  }
  int32_t branches_, k_;
  double hot_;
  std::vector<int32_t> chosen_;
};

/// A dense table as it is stored.
inline PairTable table_of(const std::vector<int64_t>& dense, int32_t rows, int32_t columns) {
  PairTable table{rows, columns, {}};
  for (int32_t i = 0; i < rows; ++i)
    for (int32_t j = 0; j < columns; ++j)
      if (const int64_t count = dense[int64_t{i} * columns + j]; count > 0) table.entries.push_back({i, j, count});
  return table;
}

/// Cells that choose at two routers, the second whatever they chose before. With `tied`, this share of the cells of
/// branch 0 takes branch 0 again.
template <class Engine>
struct TwoRouters {
  std::vector<int64_t> load, next_load;
  PairTable transitions, together;

  TwoRouters(Engine& random, SkewedRouter first, SkewedRouter second, int32_t branches, int64_t cells, double tied = 0)
      : load(branches), next_load(branches) {
    std::vector<int64_t> next(int64_t{branches} * branches), pairs(next.size());
    for (int64_t c = 0; c < cells; ++c) {
      const std::vector<int32_t>& a = first.draw(random);
      std::vector<int32_t> b = second.draw(random);
      const bool from_0 = std::find(a.begin(), a.end(), 0) != a.end();
      if (tied > 0 && from_0 && std::find(b.begin(), b.end(), 0) == b.end() &&
          static_cast<double>(random() >> 11) * 0x1p-53 < tied)
        b[0] = 0;
      for (const int32_t i : a) {
        ++load[i];
        for (const int32_t j : b) ++next[int64_t{i} * branches + j];
        for (const int32_t j : a)
          if (i < j) ++pairs[int64_t{i} * branches + j];
      }
      for (const int32_t j : b) ++next_load[j];
    }
    transitions = table_of(next, branches, branches), together = table_of(pairs, branches, branches);
  }
};

}  // namespace stormcell::testing
