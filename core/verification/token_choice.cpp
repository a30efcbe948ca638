// A draw adds a number to each score and takes the largest, so a draw that differs is a near tie of two sums, as a token
// that differs is one of two logits. Beside that, a token near the border of the candidates may be one or not.
#include "core/verification/token_choice.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/oracle/reference/sample.h"

namespace stormcell {
namespace {

double log_odds(double share) { return std::log(share) - std::log1p(-share); }

/// The tokens of some logits in their order, with the candidates of a rule in front.
class Drawing {
 public:
  Drawing(std::span<const float> logits, const SamplingRule& rule, TokenPlace place)
      : rule_(rule),
        key_(draw_key(rule.seed, static_cast<int32_t>(place.item), static_cast<int32_t>(place.turn))),
        all_(reference::sampling_candidates({logits.begin(), logits.end()}, {.temperature = rule.temperature})),
        candidates_(reference::sampling_candidates({logits.begin(), logits.end()}, rule).size()) {
    // Probabilities are shared by the tokens that top_k leaves.
    const size_t sharing = rule.top_k > 0 ? std::min(all_.size(), static_cast<size_t>(rule.top_k)) : all_.size();
    double sum = 0;
    for (size_t i = 0; i < sharing; ++i) sum += std::exp(all_[i].score - all_[0].score);
    before_.push_back(0);
    for (size_t i = 0; i < all_.size(); ++i)
      before_.push_back(before_.back() + (i < sharing ? std::exp(all_[i].score - all_[0].score) / sum : 0));
  }

  int32_t drawn() const {
    int32_t token = -1;
    double best = 0;
    for (size_t i = 0; i < candidates_; ++i) {
      const double value = sum(i);
      if (token < 0 || value > best || (value == best && all_[i].token < token)) best = value, token = all_[i].token;
    }
    return token;
  }

  /// Whoever is ahead of the other token has to lose its lead, or its place among the candidates.
  double margin(int32_t other) const {
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const auto& t) { return t.token == other; });
    if (at == all_.end()) return INFINITY;
    const auto place = static_cast<size_t>(at - all_.begin());
    double margin = place < candidates_ ? 0 : to_enter(place);
    for (size_t i = 0; i < candidates_; ++i)
      if (const double lead = sum(i) - sum(place); i != place && lead > margin) margin = to_leave(i, margin, lead);
    return margin * rule_.temperature;
  }

 private:
  double sum(size_t place) const { return all_[place].score + gumbel(key_, all_[place].token); }

  /// Number of candidates that top_k allows.
  size_t most() const { return rule_.top_k > 0 ? static_cast<size_t>(rule_.top_k) : all_.size(); }

  /// How much scores have to err for a token to be a candidate: it moves up to a place, and what lies before that place
  /// is less than top_p.
  double to_enter(size_t place) const {
    double least = INFINITY;
    for (size_t to = std::min(place + 1, most()); to-- > 0;) {
      const double up = all_[to].score - all_[place].score;
      if (up >= least) break;
      const double share = before_[to];
      const double odds = rule_.top_p >= 1 || share < rule_.top_p ? 0
                          : share >= 1                            ? INFINITY
                                                                  : log_odds(share) - log_odds(rule_.top_p);
      least = std::min(least, std::max(up, odds));
    }
    return least;
  }
  /// The larger of `margin` and what is less: `lead`, or the error after which the token is no candidate.
  double to_leave(size_t place, double margin, double lead) const {
    double least = lead;
    const double own = before_[place + 1] - before_[place];
    for (size_t to = place; to < all_.size(); ++to) {
      const double down = all_[place].score - all_[to].score;
      if (down >= least) break;
      const double share = before_[to + 1] - own;  // before it, once it stands behind the token at `to`
      const double odds = to >= most()           ? 0
                          : rule_.top_p >= 1     ? INFINITY
                          : share >= rule_.top_p ? 0
                          : share <= 0           ? INFINITY
                                                 : log_odds(rule_.top_p) - log_odds(share);
      least = std::min(least, std::max(down, odds));
    }
    return std::max(margin, least);
  }

  const SamplingRule& rule_;
  uint64_t key_;
  std::vector<reference::ScoredToken> all_;
  size_t candidates_;
  std::vector<double> before_;  // by place: the probability of the tokens before it
};

}  // namespace

double logit_of(std::span<const float> logits, int32_t token) {
  const bool is_one = token >= 0 && static_cast<size_t>(token) < logits.size();
  return is_one ? static_cast<double>(logits[token]) : -INFINITY;
}

int32_t TokenChoice::token(std::span<const float> logits, TokenPlace place) const {
  if (rule_) return Drawing(logits, *rule_, place).drawn();
  int32_t best = -1;
  for (size_t i = 0; i < logits.size(); ++i)
    if (best < 0 || logits[i] > logits[best]) best = static_cast<int32_t>(i);
  return best;
}

double TokenChoice::margin(std::span<const float> logits, int32_t chosen, int32_t other, TokenPlace place) const {
  if (!rule_) return logit_of(logits, chosen) - logit_of(logits, other);
  return chosen == other ? 0 : Drawing(logits, *rule_, place).margin(other);
}

}  // namespace stormcell
