#include "core/profile/drift.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/base/quantile.h"

namespace stormcell {
namespace {

constexpr int kRandomHalves = 199;
constexpr size_t kFewestBlocks = 4;
constexpr double kAlike = 1e-12;  // sums of the same blocks in another order are rounded otherwise

/// Total variation between the `part` first of `order` and the rest, mean over layers with load in both.
template <class Block>
double distance_of(const std::vector<Block>& blocks, std::span<const size_t> order, size_t part,
                   std::span<const int32_t> branches) {
  const size_t width = blocks[0].size();
  std::vector<double> first(width), second(width);
  for (size_t i = 0; i < order.size(); ++i) {
    std::vector<double>& to = i < part ? first : second;
    for (size_t j = 0; j < width; ++j) to[j] += static_cast<double>(blocks[order[i]][j]);
  }
  double sum = 0;
  int64_t layers = 0;
  for (size_t begin = 0, l = 0; l < branches.size(); begin += static_cast<size_t>(branches[l++])) {
    const auto end = begin + static_cast<size_t>(branches[l]);
    const double a = std::accumulate(first.begin() + begin, first.begin() + end, 0.),
                 b = std::accumulate(second.begin() + begin, second.begin() + end, 0.);
    if (a == 0 || b == 0) continue;
    double apart = 0;
    for (size_t j = begin; j < end; ++j) apart += std::abs(first[j] / a - second[j] / b);
    sum += apart / 2, ++layers;
  }
  return layers > 0 ? sum / static_cast<double>(layers) : 0;
}

/// Distance between the first `part` blocks and the others, compared with random parts of that size.
template <class Block>
std::optional<Drift> drift_of_part(const std::vector<Block>& blocks, size_t part, std::span<const int32_t> branches,
                                   const Progress& progress) {
  if (blocks.size() < kFewestBlocks) return {};
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Drift drift;
  drift.blocks = std::ssize(blocks);
  drift.distance = distance_of(blocks, order, part, branches);
  std::mt19937 random(1);
  int at_least = 1;
  std::vector<double> by_chance;
  for (int i = 0; i < kRandomHalves; ++i) {
    progress.report("judging drift", i, kRandomHalves);
    for (size_t j = order.size(); j-- > 1;) std::swap(order[j], order[random() % (j + 1)]);
    const double chance = distance_of(blocks, order, part, branches);
    drift.expected += chance / kRandomHalves;
    at_least += chance >= drift.distance - kAlike;
    by_chance.push_back(chance);
  }
  drift.middle = median(by_chance), drift.low = quantile(by_chance, .025), drift.high = quantile(by_chance, .975);
  drift.p_value = static_cast<double>(at_least) / (kRandomHalves + 1);
  return drift;
}

/// Shares of the branches of each layer that has load.
std::vector<double> shares_of_block(const BlockLoads& block, std::span<const int32_t> branches) {
  std::vector<double> shares(block.begin(), block.end());
  auto begin = shares.begin();
  for (const int32_t n : branches) {
    const auto end = begin + n;
    if (const double sum = std::accumulate(begin, end, 0.); sum > 0)
      std::for_each(begin, end, [sum](double& share) { share /= sum; });
    begin = end;
  }
  return shares;
}

/// `block_of`: the block of a step, by its number among those that are judged.
template <class BlockOf>
std::vector<BlockLoads> count_blocks(const TokenRoutes& routes, bool decoding, int64_t blocks, BlockOf block_of) {
  const size_t branches = routes.branches;
  std::vector<BlockLoads> counts(blocks, BlockLoads(static_cast<size_t>(routes.layers) * branches));
  int64_t number = -1, last = -1;
  for (size_t t = 0; t < routes.size(); ++t) {
    if (decoding && routes.tokens[t].phase != Phase::decode) continue;
    if (routes.tokens[t].step != last) ++number, last = routes.tokens[t].step;
    BlockLoads& block = counts[block_of(number)];
    for (int32_t l = 0; l < routes.layers; ++l)
      for (const int32_t e : routes.at(t, l))
        if (e >= 0) ++block[l * branches + e];
  }
  return counts;
}

}  // namespace

std::optional<Drift> drift_of(const std::vector<BlockLoads>& blocks, std::span<const int32_t> branches,
                              const Progress& progress) {
  return drift_of_part(blocks, blocks.size() / 2, branches, progress);
}

std::optional<Drift> drift_between(const std::vector<BlockLoads>& first, const std::vector<BlockLoads>& second,
                                   std::span<const int32_t> branches, const Progress& progress) {
  std::vector<std::vector<double>> shares;
  for (const std::vector<BlockLoads>* blocks : {&first, &second})
    for (const BlockLoads& block : *blocks) shares.push_back(shares_of_block(block, branches));
  return drift_of_part(shares, first.size(), branches, progress);
}

bool decodes_any(const TokenRoutes& routes) {
  return std::any_of(routes.tokens.begin(), routes.tokens.end(),
                     [](const auto& t) { return t.phase == Phase::decode; });
}

int64_t judged_steps(const TokenRoutes& routes, bool decoding) {
  int64_t steps = 0, last = -1;
  for (const TokenRoutes::Token& token : routes.tokens)
    if (!decoding || token.phase == Phase::decode) steps += token.step != last, last = token.step;
  return steps;
}

std::vector<BlockLoads> blocks_of(const TokenRoutes& routes) {
  const bool decoding = decodes_any(routes);
  const int64_t steps = judged_steps(routes, decoding), each = steps_of_block(steps);
  return count_blocks(routes, decoding, (steps + each - 1) / each, [each](int64_t step) { return step / each; });
}

std::vector<BlockLoads> blocks_of(const TokenRoutes& routes, bool decoding, int64_t blocks) {
  const int64_t steps = judged_steps(routes, decoding);
  return count_blocks(routes, decoding, blocks, [=](int64_t step) { return step * blocks / steps; });
}

}  // namespace stormcell
