#include "core/cpu/kernels/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stormcell::cpu {
namespace {

/// The first tokens of a sorted prefix whose probabilities sum up to the rule's share. `all`: the tokens that
/// probabilities are shared by; those up to `sorted` are in order.
class TopShare {
 public:
  TopShare(std::span<const float> scores, const SamplingRule& rule, std::span<const int32_t> all, float highest)
      : scores_(scores), rule_(rule), highest_(highest) {
    for (const int32_t token : all) sum_ += weight(token);
  }
  /// How many tokens of the prefix are kept; the prefix's size if it is too short to say.
  size_t kept(std::span<const int32_t> sorted) const {
    double before = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (i > 0 && before >= rule_.top_p) return i;
      before += weight(sorted[i]) / sum_;
    }
    return sorted.size();
  }

 private:
  double weight(int32_t token) const {
    return std::exp((static_cast<double>(scores_[token]) - static_cast<double>(highest_)) / rule_.temperature);
  }
  std::span<const float> scores_;
  const SamplingRule& rule_;
  float highest_;
  double sum_ = 0;
};

}  // namespace

int32_t sampled_token(std::span<const float> scores, const SamplingRule& rule, uint64_t key, std::span<int32_t> order) {
  const auto above = [&](int32_t a, int32_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; };
  std::iota(order.begin(), order.end(), 0);
  std::span<int32_t> list(
      order.begin(), std::partition(order.begin(), order.end(), [&](int32_t i) { return !std::isnan(scores[i]); }));
  if (rule.top_k > 0 && rule.top_k < std::ssize(list)) {
    std::nth_element(list.begin(), list.begin() + rule.top_k - 1, list.end(), above);
    list = list.first(static_cast<size_t>(rule.top_k));
  }
  if (rule.top_p < 1 && !list.empty()) {
    const TopShare share(scores, rule, list, scores[*std::min_element(list.begin(), list.end(), above)]);
    for (size_t sorted = std::min<size_t>(64, list.size());; sorted = std::min(2 * sorted, list.size())) {
      std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(sorted), list.end(), above);
      const size_t kept = share.kept(list.first(sorted));
      if (kept == sorted && sorted < list.size()) continue;
      list = list.first(kept);
      break;
    }
  }
  int32_t drawn = 0;
  double best = -std::numeric_limits<double>::infinity();
  for (const int32_t token : list) {
    const double value = static_cast<double>(scores[token]) / rule.temperature + gumbel(key, token);
    if (value > best || (value == best && token < drawn)) best = value, drawn = token;
  }
  return drawn;
}

}  // namespace stormcell::cpu
