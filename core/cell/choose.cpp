// The rules themselves. Selection is by raw scores wherever a softmax only rescales them: it is monotone, and ties stay
// ties.
#include "core/cell/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cell/capacity.h"

namespace stormcell {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// NaN compares below everything, so that a broken score never wins.
float usable(float score) { return std::isnan(score) ? kLowest : score; }
// Distance of a choice from the other one; 0 if a broken score makes it no number, since any choice was possible.
float distance(float chosen, float other) {
  const float d = std::fabs(chosen - other);
  return std::isnan(d) ? 0 : d;
}

/// The set of branches that may not be chosen if there are none: the usual case costs nothing.
struct NoneOff {
  static constexpr bool kAny = false;
  bool operator()(int32_t) const { return false; }
};
class SomeOff {
 public:
  static constexpr bool kAny = true;
  explicit SomeOff(const Protocol& protocol) {
    for (const int32_t b : protocol.off) off_[b] = true;
  }
  bool operator()(int32_t branch) const { return off_[branch]; }

 private:
  bool off_[kMostBranches] = {};
};
template <class Choose>
void with_off(const Protocol& protocol, Choose choose) {
  if (protocol.off.empty()) return choose(NoneOff());
  choose(SomeOff(protocol));
}

// The k largest of n scores, without those that are off, the lowest index winning ties, in descending order. Returns
// the best score not taken.
template <class Score, class Off = NoneOff>
float select_top(Score score, int32_t n, int32_t k, int32_t* chosen, const Off& off = {}) {
  float best[kMostChoices];
  int32_t count = 0;
  float rest = kLowest;
  for (int32_t b = 0; b < n; ++b) {
    if (off(b)) continue;
    const float s = score(b);
    if (count == k && !(s > best[count - 1])) {
      rest = std::max(rest, s);
      continue;
    }
    if (count == k) rest = std::max(rest, best[count - 1]);
    int32_t at = count < k ? count++ : k - 1;
    for (; at > 0 && s > best[at - 1]; --at) best[at] = best[at - 1], chosen[at] = chosen[at - 1];
    best[at] = s;
    chosen[at] = b;
  }
  return rest;
}

float softmax_at(const float* scores, int32_t n, int32_t branch) {
  float most = kLowest, sum = 0;
  for (int32_t b = 0; b < n; ++b) most = std::max(most, scores[b]);
  for (int32_t b = 0; b < n; ++b) sum += std::exp(scores[b] - most);
  return std::exp(scores[branch] - most) / sum;
}

// splitmix64, so that hash tables are the same on every platform.
uint64_t mix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Branches that are left to choose from.
int32_t left_of(int32_t branches, const Protocol& protocol) {
  return branches - static_cast<int32_t>(protocol.off.size());
}

void choose_argmax(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  const bool contested = left_of(in.branches, protocol) > 1;
  with_off(protocol, [&](const auto& off) {
    for (int64_t c = 0; c < in.cells; ++c) {
      const float* s = in.data + c * in.branches;
      const float rest = select_top([&](int32_t b) { return usable(s[b]); }, in.branches, 1, out.choice + c, off);
      out.margin[c] = contested ? distance(usable(s[out.choice[c]]), rest) : std::numeric_limits<float>::infinity();
    }
  });
}

}  // namespace

void choose_top_k(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  const bool contested = left_of(in.branches, protocol) > protocol.k;
  with_off(protocol, [&](const auto& off) {
    for (int64_t c = 0; c < in.cells; ++c) {
      const float* s = in.data + c * in.branches;
      int32_t* chosen = out.choice + c * out.fan_out;
      const float rest = select_top([&](int32_t b) { return usable(s[b]); }, in.branches, protocol.k, chosen, off);
      out.margin[c] =
          contested ? distance(usable(s[chosen[protocol.k - 1]]), rest) : std::numeric_limits<float>::infinity();
    }
  });
}

void choose_switch_top1(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  choose_argmax(in, protocol, out);
  if (protocol.capacity > 0) serve_first(out, in.cells, in.parents, protocol.capacity);
}

void choose_batch_prioritized(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  choose_argmax(in, protocol, out);
  if (protocol.capacity_factor <= 0) return;
  // choice_weight holds the confidence until route() writes the weights.
  for (int64_t c = 0; c < in.cells; ++c)
    out.choice_weight[c] = usable(softmax_at(in.data + c * in.branches, in.branches, out.choice[c]));
  serve_most_confident(out, in.cells, capacity_of(protocol.capacity_factor, in.cells, in.branches));
}

namespace {

template <class Off>
void choose_in_groups(const ScoreView& in, const Protocol& protocol, const Off& off, DecisionView& out) {
  const int32_t per_group = in.branches / protocol.groups;
  // Groups without any allowed branch are never kept, so fewer may be kept than the rule says.
  bool empty[kMostChoices] = {};
  int32_t groups_left = protocol.groups;
  if constexpr (Off::kAny)
    for (int32_t g = 0; g < protocol.groups; ++g) {
      empty[g] = true;
      for (int32_t i = 0; i < per_group; ++i) empty[g] = empty[g] && off(g * per_group + i);
      groups_left -= empty[g];
    }
  const int32_t groups_kept = std::min(protocol.groups_kept, groups_left);
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data + c * in.branches;
    const auto corrected = [&](int32_t b) { return usable(sigmoid(s[b]) + (in.bias ? in.bias[b] : 0.0f)); };
    // A group's score is the sum of its two best corrected scores (DeepSeek-V3 report, section 2.1.2).
    int32_t kept[kMostChoices];
    const auto group_score = [&](int32_t g) {
      int32_t two[2];
      int32_t take = std::min(2, per_group);
      if constexpr (Off::kAny) {
        int32_t left = 0;
        for (int32_t i = 0; i < per_group; ++i) left += !off(g * per_group + i);
        take = std::min(take, left);
      }
      select_top([&](int32_t i) { return corrected(g * per_group + i); }, per_group, take, two,
                 [&](int32_t i) { return off(g * per_group + i); });
      float sum = 0;
      for (int32_t i = 0; i < take; ++i) sum += corrected(g * per_group + two[i]);
      return sum;
    };
    const float group_rest =
        select_top(group_score, protocol.groups, groups_kept, kept, [&](int32_t g) { return empty[g]; });
    bool allowed[kMostBranches] = {};
    for (int32_t i = 0; i < groups_kept; ++i) std::fill_n(allowed + kept[i] * per_group, per_group, true);
    int32_t* chosen = out.choice + c * out.fan_out;
    const float rest = select_top([&](int32_t b) { return allowed[b] ? corrected(b) : kLowest; }, in.branches,
                                  protocol.k, chosen, off);
    // Both cuts count: that between branches and that between groups. A group's score moves by up to twice a branch's.
    const float branch_margin = distance(corrected(chosen[protocol.k - 1]), rest);
    const bool all_groups = groups_kept >= groups_left;
    out.margin[c] = all_groups ? branch_margin
                               : std::min(branch_margin, distance(group_score(kept[groups_kept - 1]), group_rest) / 2);
  }
}

template <class Off>
void choose_above(const ScoreView& in, const Protocol& protocol, const Off& off, DecisionView& out) {
  const bool has_residual = protocol.residual >= 0 && !off(protocol.residual);
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data + c * in.branches;
    int32_t* chosen = out.choice + c * out.fan_out;
    int32_t count = 0;
    float margin = std::numeric_limits<float>::infinity();
    for (int32_t b = 0; b < in.branches; ++b) {
      if (off(b)) continue;
      if (s[b] > protocol.threshold) chosen[count++] = b;
      margin = std::min(margin, std::fabs(s[b] - protocol.threshold));
    }
    // Descending score, ties by index: the list is short, insertion keeps it in place.
    for (int32_t i = 1; i < count; ++i)
      for (int32_t j = i; j > 0 && s[chosen[j]] > s[chosen[j - 1]]; --j) std::swap(chosen[j], chosen[j - 1]);
    if (count == 0 && has_residual) chosen[count++] = protocol.residual;
    std::fill(chosen + count, chosen + out.fan_out, kNoBranch);
    out.margin[c] = margin;
  }
}

/// If one of two branches is off, all cells take the other, whatever their scores.
void send_past_what_is_off(const Protocol& protocol, int64_t cells, DecisionView& out) {
  if (protocol.off.empty()) return;
  std::fill_n(out.choice, cells, 1 - protocol.off.front());
  std::fill_n(out.margin, cells, std::numeric_limits<float>::infinity());
}

}  // namespace

void choose_sigmoid_groups(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  with_off(protocol, [&](const auto& off) { choose_in_groups(in, protocol, off, out); });
}

void choose_threshold(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  with_off(protocol, [&](const auto& off) { choose_above(in, protocol, off, out); });
}

void choose_residual_threshold(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  const int32_t residual = residual_branch(protocol);
  for (int64_t c = 0; c < in.cells; ++c) {
    float sum = 0;
    for (int32_t b = 0; b < in.branches; ++b) sum += in.data[c * in.branches + b];
    out.choice[c] = sum < protocol.threshold || std::isnan(sum) ? residual : 1 - residual;
    out.margin[c] = distance(sum, protocol.threshold);
  }
  send_past_what_is_off(protocol, in.cells, out);
}

void choose_exit_threshold(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  const int32_t exit = residual_branch(protocol);
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data + c * in.branches;
    int32_t best = 0;
    select_top([&](int32_t b) { return usable(s[b]); }, in.branches, 1, &best);
    const float confidence = softmax_at(s, in.branches, best);
    out.choice[c] = confidence >= protocol.threshold ? exit : 1 - exit;  // NaN goes on: never exit on a broken score
    out.margin[c] = distance(confidence, protocol.threshold);
  }
  send_past_what_is_off(protocol, in.cells, out);
}

void choose_hash(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  // A seeded permutation of the branches and its reversal: label t goes to p[t] and p[n-1-t]. Fisher-Yates.
  int32_t table[kMostBranches];
  uint64_t state = protocol.seed;
  for (int32_t b = 0; b < out.branches; ++b) table[b] = b;
  for (int32_t b = out.branches - 1; b > 0; --b) std::swap(table[b], table[mix(state) % static_cast<uint64_t>(b + 1)]);
  for (int64_t c = 0; c < in.cells; ++c) {
    const uint32_t n = out.branches;
    const int32_t t = static_cast<uint32_t>(in.label[c]) % n;
    const int32_t first = table[t], second = table[out.branches - 1 - t];
    out.choice[2 * c] = first;
    out.choice[2 * c + 1] = second == first ? kNoBranch : second;
    out.margin[c] = std::numeric_limits<float>::infinity();
  }
}

void choose_label(const ScoreView& in, const Protocol&, DecisionView& out) {
  for (int64_t c = 0; c < in.cells; ++c) {
    const int32_t label = in.label[c];
    out.choice[c] = label >= 0 && label < out.branches ? label : kNoBranch;
    out.margin[c] = std::numeric_limits<float>::infinity();
  }
}

}  // namespace stormcell
