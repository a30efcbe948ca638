#include "core/profile/drift.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace stormcell {
namespace {

constexpr int kRandomHalves = 199;
constexpr size_t kFewestBlocks = 4;

/// Total variation between the first half of `order` and the rest, mean over layers with load in both.
double distance_of(const std::vector<BlockLoads>& blocks, std::span<const size_t> order, std::span<const int32_t> branches) {
  const size_t half = order.size() / 2, width = blocks[0].size();
  std::vector<double> first(width), second(width);
  for (size_t i = 0; i < order.size(); ++i) {
    std::vector<double>& to = i < half ? first : second;
    for (size_t j = 0; j < width; ++j) to[j] += static_cast<double>(blocks[order[i]][j]);
  }
  double sum = 0;
  int64_t layers = 0;
  for (size_t begin = 0, l = 0; l < branches.size(); begin += static_cast<size_t>(branches[l++])) {
    const auto end = begin + static_cast<size_t>(branches[l]);
    const double a = std::accumulate(first.begin() + static_cast<std::ptrdiff_t>(begin), first.begin() + static_cast<std::ptrdiff_t>(end),
                                     0.),
                 b = std::accumulate(second.begin() + static_cast<std::ptrdiff_t>(begin), second.begin() + static_cast<std::ptrdiff_t>(end),
                                     0.);
    if (a == 0 || b == 0) continue;
    double apart = 0;
    for (size_t j = begin; j < end; ++j) apart += std::abs(first[j] / a - second[j] / b);
    sum += apart / 2, ++layers;
  }
  return layers > 0 ? sum / static_cast<double>(layers) : 0;
}

}  // namespace

std::optional<Drift> drift_of(const std::vector<BlockLoads>& blocks, std::span<const int32_t> branches, const Progress& progress) {
  if (blocks.size() < kFewestBlocks) return {};
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Drift drift;
  drift.blocks = static_cast<int64_t>(blocks.size());
  drift.distance = distance_of(blocks, order, branches);
  std::mt19937 random(1);
  int at_least = 1;
  for (int i = 0; i < kRandomHalves; ++i) {
    progress.report("judging drift", i, kRandomHalves);
    for (size_t j = order.size(); j-- > 1;) std::swap(order[j], order[random() % (j + 1)]);
    const double chance = distance_of(blocks, order, branches);
    drift.expected += chance / kRandomHalves;
    at_least += chance >= drift.distance;
  }
  drift.p_value = static_cast<double>(at_least) / (kRandomHalves + 1);
  return drift;
}

std::vector<BlockLoads> blocks_of(const TokenRoutes& routes) {
  const bool decodes = std::any_of(routes.tokens.begin(), routes.tokens.end(), [](const auto& t) { return t.phase == Phase::decode; });
  const auto branches = static_cast<size_t>(routes.branches);
  const auto judged = [&](size_t t) { return !decodes || routes.tokens[t].phase == Phase::decode; };
  int64_t all = 0, last = -1;
  for (size_t t = 0; t < routes.size(); ++t)
    if (judged(t)) all += routes.tokens[t].step != last, last = routes.tokens[t].step;
  std::vector<BlockLoads> blocks;
  const int64_t each = steps_of_block(all);
  int64_t steps = 0;
  last = -1;
  for (size_t t = 0; t < routes.size(); ++t) {
    if (!judged(t)) continue;
    if (routes.tokens[t].step != last && steps++ % each == 0) blocks.emplace_back(static_cast<size_t>(routes.layers) * branches);
    last = routes.tokens[t].step;
    for (int32_t l = 0; l < routes.layers; ++l)
      for (const int32_t e : routes.at(t, l))
        if (e >= 0) ++blocks.back()[static_cast<size_t>(l) * branches + static_cast<size_t>(e)];
  }
  return blocks;
}

}  // namespace stormcell
