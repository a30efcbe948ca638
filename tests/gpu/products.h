// Random grouped products, and the same in double by plain loops.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gpu/grouped/grouped.h"
#include "tests/gpu/exact_activation.h"

namespace stormcell::testing {

inline std::vector<int32_t> random_offsets(std::mt19937& random, int32_t experts, int32_t most_rows) {
  std::vector<int32_t> offsets = {0};
  for (int32_t e = 0; e < experts; ++e) {
    const auto how = random() % 4;
    const int32_t rows =
        how == 0 ? 0
                 : static_cast<int32_t>(random() %
                                        static_cast<uint32_t>(how == 1 ? std::min(most_rows, 10) + 1 : most_rows + 1));
    offsets.push_back(offsets.back() + rows);
  }
  return offsets;
}

/// The tile map without a kernel: sorted lists.
inline std::vector<int32_t> map_by_sorting(const std::vector<int32_t>& offsets, const gpu::RegimeLimits& limits) {
  std::vector<int32_t> map(gpu::kTileMapInts, -7);
  int32_t& most_rows = *gpu::most_rows_of(map.data());
  most_rows = 0;
  for (size_t e = 0; e + 1 < offsets.size(); ++e) most_rows = std::max(most_rows, offsets[e + 1] - offsets[e]);
  for (int r = 0; r < gpu::kRegimes; ++r) {
    const auto regime = static_cast<gpu::Regime>(r);
    std::vector<int32_t> experts;
    const auto rows = [&](int32_t e) { return offsets[static_cast<size_t>(e) + 1] - offsets[static_cast<size_t>(e)]; };
    for (int32_t e = 0; e + 1 < static_cast<int32_t>(offsets.size()); ++e)
      if (rows(e) > 0 && gpu::regime_of(rows(e), limits) == regime) experts.push_back(e);
    std::stable_sort(experts.begin(), experts.end(), [&](int32_t a, int32_t b) { return rows(a) > rows(b); });
    const gpu::TileList list = gpu::tile_list(map.data(), regime);
    *list.count = static_cast<int32_t>(experts.size());
    list.begin[0] = 0;
    for (size_t i = 0; i < experts.size(); ++i) {
      list.expert[i] = experts[i];
      list.begin[i + 1] = list.begin[i] + gpu::parts(rows(experts[i]), gpu::row_block(regime));
    }
  }
  return map;
}

/// A product with the memory that its arguments point to.
template <class T>
struct Product {
  std::vector<int32_t> offsets, map, gather, scatter;
  std::vector<T> x, w, y;
  std::vector<float> bias, weight;
  gpu::ProductArgs<T> args;
  int32_t experts = 0, panels = 1, x_rows = 0, y_rows = 0;
};

/// The end of a product's sums.
struct Stored {
  gpu::Activation activation;
  bool bias, scatter, weight;
};
inline Stored random_stored(std::mt19937& random) {
  const auto activation = static_cast<gpu::Activation>(random() % 5);
  const bool bias = random() % 2, scatter = random() % 2;
  return {activation, bias, scatter, random() % 2 != 0};
}

template <class T>
Product<T> random_product(std::mt19937& random, const Stored& stored, int32_t panels, int32_t most_rows, int32_t n,
                          int32_t k, const gpu::RegimeLimits& limits) {
  Product<T> p;
  std::normal_distribution<float> normal;
  const auto fill = [&](auto& v, size_t size, float scale) {
    v.resize(size);
    for (auto& e : v) e = gpu::number<std::decay_t<decltype(e)>>(normal(random) * scale);
  };
  p.experts = 1 + static_cast<int32_t>(random() % 6);
  p.panels = panels;
  p.offsets = random_offsets(random, p.experts, most_rows);
  p.map = map_by_sorting(p.offsets, limits);
  const int32_t rows = p.offsets.back();
  p.x_rows = p.y_rows = rows;
  auto& a = p.args;
  a.n = n, a.k = k;
  if (random() % 2) {
    p.x_rows = rows / 2 + 1;
    for (int32_t s = 0; s < rows; ++s)
      p.gather.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(p.x_rows)));
    a.gather = p.gather.data();
  }
  if (stored.scatter) {
    p.y_rows = rows + 3;
    for (int32_t s = 0; s < p.y_rows; ++s) p.scatter.push_back(s);
    std::shuffle(p.scatter.begin(), p.scatter.end(), random);
    a.scatter = p.scatter.data();
  }
  fill(p.x, static_cast<size_t>(p.x_rows) * static_cast<size_t>(k), 1);
  fill(p.w, static_cast<size_t>(p.experts) * static_cast<size_t>(panels * n) * static_cast<size_t>(k),
       1 / std::sqrt(static_cast<float>(k)));
  if (stored.bias) fill(p.bias, static_cast<size_t>(p.experts * panels * n), 1), a.bias = p.bias.data();
  if (stored.weight) fill(p.weight, static_cast<size_t>(rows), 1), a.weight = p.weight.data();
  p.y.assign(static_cast<size_t>(p.y_rows) * static_cast<size_t>(n) + 1, gpu::number<T>(-12345.0f));
  a.offsets = p.offsets.data(), a.map = p.map.data();
  a.x = p.x.data(), a.w = p.w.data(), a.y = p.y.data();
  a.activation = stored.activation;
  return p;
}
template <class T>
Product<T> random_product(std::mt19937& random, int32_t panels, int32_t most_rows, int32_t n, int32_t k,
                          const gpu::RegimeLimits& limits) {
  return random_product<T>(random, random_stored(random), panels, most_rows, n, k, limits);
}

/// Empty when y is right within the format for the experts of these regimes, and nothing else was written.
template <class T>
std::string difference(const Product<T>& p, const gpu::RegimeLimits& limits,
                       std::initializer_list<gpu::Regime> regimes) {
  const auto& a = p.args;
  std::vector<char> written(p.y.size());
  const double tolerance = sizeof(T) == 2 ? 1e-2 : 2e-5;
  for (int32_t e = 0; e < p.experts; ++e) {
    const int32_t rows = p.offsets[static_cast<size_t>(e) + 1] - p.offsets[static_cast<size_t>(e)];
    if (rows == 0 || std::find(regimes.begin(), regimes.end(), gpu::regime_of(rows, limits)) == regimes.end()) continue;
    for (int32_t s = p.offsets[static_cast<size_t>(e)]; s < p.offsets[static_cast<size_t>(e) + 1]; ++s)
      for (int32_t c = 0; c < a.n; ++c) {
        double panel[2] = {};
        for (int32_t q = 0; q < p.panels; ++q) {
          const int64_t row = (static_cast<int64_t>(e) * p.panels + q) * a.n + c;
          for (int32_t d = 0; d < a.k; ++d)
            panel[q] += static_cast<double>(gpu::to_float(a.x[a.source_row(s) * a.k + d])) *
                        static_cast<double>(gpu::to_float(a.w[row * a.k + d]));
          if (a.bias) panel[q] += static_cast<double>(a.bias[row]);
        }
        double want = exact_activation(a.activation, panel[0]) * (p.panels == 2 ? panel[1] : 1.0);
        if (a.weight) want *= static_cast<double>(a.weight[s]);
        const auto at = static_cast<size_t>(a.target_row(s) * a.n + c);
        written[at] = 1;
        const auto got = static_cast<double>(gpu::to_float(p.y[at]));
        if (!(std::fabs(got - want) <= tolerance * std::max(1.0, std::fabs(want))))
          return "slot " + std::to_string(s) + ", column " + std::to_string(c) + ": " + std::to_string(got) + ", not " +
                 std::to_string(want);
      }
  }
  const T untouched = gpu::number<T>(-12345.0f);
  for (size_t i = 0; i < p.y.size(); ++i)
    if (!written[i] && std::memcmp(&p.y[i], &untouched, sizeof(T)) != 0)
      return "number " + std::to_string(i) + " was written";
  return {};
}

}  // namespace stormcell::testing
