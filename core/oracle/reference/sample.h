// sample: an entry of each row, drawn by the numbers of its sequence and turn. All tokens are sorted, in double: plain,
// and the same whatever the rule leaves out.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/graph/sampling.h"
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

struct ScoredToken {
  double score = 0;  ///< divided by the temperature
  int32_t token = 0;
};

/// The candidates of a rule: the highest scores first, of equal ones the lowest token. Scores that are no numbers are
/// never candidates.
inline std::vector<ScoredToken> sampling_candidates(const std::vector<float>& scores, const SamplingRule& rule) {
  std::vector<ScoredToken> list;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!std::isnan(scores[i]))
      list.push_back({static_cast<double>(scores[i]) / rule.temperature, static_cast<int32_t>(i)});
  std::stable_sort(list.begin(), list.end(),
                   [](const ScoredToken& a, const ScoredToken& b) { return a.score > b.score; });
  if (rule.top_k > 0 && rule.top_k < std::ssize(list)) list.resize(static_cast<size_t>(rule.top_k));
  if (list.empty() || rule.top_p >= 1) return list;
  double sum = 0;
  for (const ScoredToken& t : list) sum += std::exp(t.score - list[0].score);
  double before = 0;  // the probability of the tokens above
  size_t kept = 0;
  for (; kept < list.size() && (kept == 0 || before < rule.top_p); ++kept)
    before += std::exp(list[kept].score - list[0].score) / sum;
  list.resize(kept);
  return list;
}

template <class Scalar>
void sample(const Call<Scalar>& c) {
  const SamplingRule rule = sampling_of(c.node);
  const int64_t width = c.width(0);
  std::vector<float> scores;
  for (int64_t r = 0; r < c.rows(0); ++r) {
    const Scalar* x = c.in(0).reals.data() + r * width;
    scores.clear();
    for (int64_t i = 0; i < width; ++i) scores.push_back(to_score(x[i]));
    const uint64_t key = draw_key(rule.seed, c.in(1).integers[r], c.in(2).integers[r]);
    int32_t drawn = 0;
    double best = -std::numeric_limits<double>::infinity();
    for (const ScoredToken& t : sampling_candidates(scores, rule)) {
      const double value = t.score + gumbel(key, t.token);
      if (value > best || (value == best && t.token < drawn)) best = value, drawn = t.token;
    }
    c.out().integers[r] = drawn;
  }
}

}  // namespace stormcell::reference
