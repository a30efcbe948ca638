#include "core/chance/even_vocabulary.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/chance/count_tail.h"

namespace stormcell {
namespace {

constexpr int64_t kMostDrawnCells = 256, kDrawnCells = 100'000, kFewestDrawnTokens = 400, kMostDrawnTokens = 2000;
constexpr double kOf95 = 1.959964;

}  // namespace

EvenVocabulary::EvenVocabulary(int32_t branches, int32_t k) : branches_(branches), k_(std::clamp(k, 1, branches)) {}

EvenVocabulary::LargestShare EvenVocabulary::drawn(int64_t cells) const {
  std::mt19937_64 random(static_cast<uint64_t>(cells));
  std::vector<int32_t> order(branches_), count(branches_);
  std::iota(order.begin(), order.end(), 0);
  const int64_t draws = std::clamp(kDrawnCells / cells, kFewestDrawnTokens, kMostDrawnTokens);
  double sum = 0, squares = 0;
  for (int64_t d = 0; d < draws; ++d) {
    std::fill(count.begin(), count.end(), 0);
    int32_t most = 0;
    for (int64_t c = 0; c < cells; ++c)
      for (int32_t i = 0; i < k_; ++i) {  // the first places of a shuffled list of branches
        const uint64_t among = branches_ - i;
        std::swap(order[i], order[i + static_cast<int32_t>(((random() >> 32) * among) >> 32)]);
        most = std::max(most, ++count[order[i]]);
      }
    const double share = static_cast<double>(most) / static_cast<double>(cells);
    sum += share, squares += share * share;
  }
  const double n = static_cast<double>(draws), mean = sum / n;
  return {mean, std::max(squares / n - mean * mean, 0.), draws};
}

const EvenVocabulary::LargestShare& EvenVocabulary::of_cells(int64_t cells) {
  const auto found = known_.find(cells);
  if (found != known_.end()) return found->second;
  LargestShare of;
  if (cells <= kMostDrawnCells) {
    of = drawn(cells);
  } else {
    const double n = branches_, all = static_cast<double>(cells), chosen = k_ / n, expected = all * chosen;
    // Independent counts whose sum is then fixed: their common part leaves the variance of the largest.
    const double spread = n > 1 ? expected * (1 - chosen) * n / (n - 1) : 0;
    const LargestCount largest = largest_count(expected, spread, n);
    of = {std::min(largest.mean / all, 1.), std::max(largest.variance - spread / n, 0.) / (all * all), 0};
  }
  return known_.emplace(cells, of).first->second;
}

ChanceFigure EvenVocabulary::judge(const std::map<int64_t, int64_t>& tokens_with, double specialization) {
  double tokens = 0, mean = 0, variance = 0;
  for (const auto& [cells, many] : tokens_with) {
    if (cells < 1) continue;
    const LargestShare& share = of_cells(cells);
    const double m = static_cast<double>(many);
    tokens += m, mean += m * share.mean, variance += m * share.variance;
    if (share.draws > 0) variance += m * m * share.variance / static_cast<double>(share.draws);
  }
  ChanceFigure figure;
  if (tokens <= 0) return figure;
  mean /= tokens;
  const double deviation = std::sqrt(variance) / tokens;
  figure.range = {mean, std::max(mean - kOf95 * deviation, 0.), std::min(mean + kOf95 * deviation, 1.)};
  // Tokens with one cell each have a share of 1 at any router: nothing varies.
  constexpr double kNoSpread = 1e-9;
  if (deviation < kNoSpread) return figure;
  const double z = (specialization - mean) / deviation;
  figure.p_value = normal_beyond(z);
  if (figure.p_value <= kFalseCalls) figure.beside = z > 0 ? BesideChance::more_skewed : BesideChance::more_even;
  return figure;
}

}  // namespace stormcell
