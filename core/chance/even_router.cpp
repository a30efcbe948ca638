#include "core/chance/even_router.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/base/balance.h"

namespace stormcell {
namespace {

constexpr int64_t kExactMean = 20;
constexpr int64_t kFigures = 3;  // of a router's loads
constexpr int64_t kFewestDraws = 4000, kDrawsOfVerdict = 2000;
constexpr int64_t kMostDrawnLoads = 1 << 23;  // half a second
constexpr double kAlike = 1e-9;               // figures of the same loads in another order are rounded otherwise

/// A call can be made only if its p-value can be this small: two sides and three figures for each verdict.
int64_t needed_draws(int64_t verdicts) {
  return static_cast<int64_t>(2 * 2 * kFigures / kFalseCalls) * std::max<int64_t>(verdicts, 1);
}

int64_t draws_for(const EvenRouter& router, int64_t verdicts) {
  const int64_t wanted = std::max(kFewestDraws, kDrawsOfVerdict * verdicts);
  return std::max({std::min(wanted, kMostDrawnLoads / router.branches), needed_draws(verdicts), kFewestDraws});
}

/// Draws every choice: the first places of a shuffled list of branches.
class DrawnChoices {
 public:
  explicit DrawnChoices(const EvenRouter& router) : router_(router), order_(router.branches) {
    std::iota(order_.begin(), order_.end(), 0);
  }
  void draw(std::mt19937_64& random, std::vector<int64_t>& load) {
    std::fill(load.begin(), load.end(), 0);
    for (int64_t left = router_.choices; left > 0; left -= router_.k) {
      const auto of_cell = static_cast<int32_t>(std::min<int64_t>(left, router_.k));
      for (int32_t i = 0; i < of_cell; ++i) {
        const uint64_t among = router_.branches - i;
        std::swap(order_[i], order_[i + static_cast<int32_t>(((random() >> 32) * among) >> 32)]);
        ++load[order_[i]];
      }
    }
  }

 private:
  EvenRouter router_;
  std::vector<int32_t> order_;
};

/// Draws loads as normal numbers that sum to nothing, bent by Cornish and Fisher's expansion to the skewness and
/// kurtosis of a binomial.
class NormalLoads {
 public:
  explicit NormalLoads(const EvenRouter& router)
      : mean_(static_cast<double>(router.choices) / router.branches), normal_(router.branches) {
    const double chosen = static_cast<double>(router.k) / router.branches, variance = mean_ * (1 - chosen);
    // Loads have a fixed sum. Independent numbers less their mean have (n - 1) / n of their variance.
    const double n = router.branches;
    deviation_ = n > 1 ? std::sqrt(std::max(variance * n / (n - 1), 0.)) : 0;
    if (variance <= 0) return;
    skewness_ = (1 - 2 * chosen) / std::sqrt(variance);
    kurtosis_ = (1 - 6 * chosen * (1 - chosen)) / variance;
  }
  void draw(std::mt19937_64& random, std::vector<int64_t>& load) {
    double sum = 0;
    for (double& g : normal_) g = distribution_(random), sum += g;
    const double middle = sum / static_cast<double>(normal_.size());
    for (size_t b = 0; b < load.size(); ++b) {
      const double g = normal_[b] - middle;
      const double bent = g + skewness_ / 6 * (g * g - 1) + kurtosis_ / 24 * g * (g * g - 3) -
                          skewness_ * skewness_ / 36 * g * (2 * g * g - 5);
      load[b] = std::max<int64_t>(std::llround(mean_ + deviation_ * bent), 0);
    }
  }

 private:
  double mean_, deviation_ = 0, skewness_ = 0, kurtosis_ = 0;
  std::vector<double> normal_;
  std::normal_distribution<double> distribution_;
};

/// The share of sorted values at least as large, or at most as large; the judged one is counted among them.
double share_from(const std::vector<double>& sorted, double value) {
  const auto first = std::lower_bound(sorted.begin(), sorted.end(), value - kAlike);
  return static_cast<double>(sorted.end() - first + 1) / static_cast<double>(sorted.size() + 1);
}
double share_to(const std::vector<double>& sorted, double value) {
  const auto end = std::upper_bound(sorted.begin(), sorted.end(), value + kAlike);
  return static_cast<double>(end - sorted.begin() + 1) / static_cast<double>(sorted.size() + 1);
}

/// `scale`: the judged router's figures over the drawn ones'.
ChanceFigure judge_by(const std::vector<double>& sorted, double value, double scale) {
  const auto at = [&](double q) {
    const auto last = static_cast<double>(sorted.size() - 1);
    return scale * sorted[static_cast<int64_t>(std::lround(q * last))];
  };
  ChanceFigure figure;
  figure.range = {at(.5), at(kFalseCalls / 2), at(1 - kFalseCalls / 2)};
  const double above = share_from(sorted, value / scale), below = share_to(sorted, value / scale);
  figure.p_value = std::min(1., 2 * std::min(above, below));
  if (figure.p_value <= kFalseCalls)
    figure.beside = above < below ? BesideChance::more_skewed : BesideChance::more_even;
  return figure;
}

/// Choices that are drawn for so many: where loads are normal, figures scale, and near numbers share their draws.
int64_t drawn_choices(int64_t choices, int32_t branches) {
  if (choices < kExactMean * branches) return choices;
  constexpr double kSteps = 16;  // 4 % apart
  const double rounded = std::exp2(std::round(std::log2(static_cast<double>(choices)) * kSteps) / kSteps);
  return std::max(std::llround(rounded), static_cast<long long>(kExactMean * branches));
}

}  // namespace

EvenLoads::EvenLoads(const EvenRouter& router, int64_t verdicts) : router_(router) {
  std::mt19937_64 random(1);
  std::vector<int64_t> load(router.branches);
  const int64_t draws = draws_for(router, verdicts);
  const auto draw_all = [&](auto&& loads) {
    const double even_bits = std::log2(static_cast<double>(router_.branches));
    for (int64_t d = 0; d < draws; ++d) {
      loads.draw(random, load);
      imbalance_.push_back(stormcell::imbalance(load));
      missing_bits_.push_back(even_bits - stormcell::entropy_bits(load));
      gini_.push_back(stormcell::gini(load));
    }
  };
  if (router.choices < kExactMean * router.branches)
    draw_all(DrawnChoices(router));
  else
    draw_all(NormalLoads(router));
  for (std::vector<double>* figures : {&imbalance_, &missing_bits_, &gini_})
    std::sort(figures->begin(), figures->end());
}

LoadsBesideChance EvenLoads::judge(int64_t choices, double imbalance, double entropy_bits, double gini) const {
  const double even_bits = std::log2(static_cast<double>(router_.branches));
  const double noise = static_cast<double>(router_.choices) / static_cast<double>(choices);
  LoadsBesideChance out;
  out.imbalance = judge_by(imbalance_, imbalance, std::sqrt(noise));
  out.gini = judge_by(gini_, gini, std::sqrt(noise));
  ChanceFigure& bits = out.entropy_bits = judge_by(missing_bits_, even_bits - entropy_bits, noise);
  bits.range = {even_bits - bits.range.middle, even_bits - bits.range.high, even_bits - bits.range.low};
  out.p_value = std::min(1., kFigures * std::min({out.imbalance.p_value, out.entropy_bits.p_value, out.gini.p_value}));
  return out;
}

LoadsBesideChance EvenRouters::judge(std::span<const int64_t> load, int32_t k) {
  const int64_t choices = std::accumulate(load.begin(), load.end(), int64_t{0});
  const auto branches = static_cast<int32_t>(load.size());
  if (choices <= 0 || branches < 1) return {};
  const int32_t of_cell = std::clamp(k, 1, branches);
  const EvenRouter even{drawn_choices(choices, branches), branches, of_cell};
  const std::tuple key{even.choices, even.branches, even.k};
  auto found = drawn_.find(key);
  if (found == drawn_.end()) {
    const int64_t loads = draws_for(even, routers_) * branches;
    if (loads > left_) return {};
    left_ -= loads;
    found = drawn_.emplace(key, EvenLoads(even, routers_)).first;
  }
  return found->second.judge(choices, imbalance(load), entropy_bits(load), gini(load));
}

}  // namespace stormcell
