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
// How far a choice was from going the other way; where a broken score makes that no number, it could have gone any way.
float distance(float chosen, float other) {
  const float d = std::fabs(chosen - other);
  return std::isnan(d) ? 0 : d;
}

// The k largest of n scores, the lowest index winning ties, in descending order. Returns the best score not taken.
template <class Score>
float select_top(Score score, int32_t n, int32_t k, int32_t* chosen) {
  float best[kMostChoices];
  int32_t count = 0;
  float rest = kLowest;
  for (int32_t b = 0; b < n; ++b) {
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

void choose_argmax(const ScoreView& in, DecisionView& out) {
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data + c * in.branches;
    const float rest = select_top([&](int32_t b) { return usable(s[b]); }, in.branches, 1, out.choice + c);
    out.margin[c] = in.branches > 1 ? distance(usable(s[out.choice[c]]), rest) : std::numeric_limits<float>::infinity();
  }
}

}  // namespace

void choose_top_k(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data + c * in.branches;
    int32_t* chosen = out.choice + c * out.fan_out;
    const float rest = select_top([&](int32_t b) { return usable(s[b]); }, in.branches, protocol.k, chosen);
    out.margin[c] = in.branches > protocol.k ? distance(usable(s[chosen[protocol.k - 1]]), rest)
                                             : std::numeric_limits<float>::infinity();
  }
}

void choose_switch_top1(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  choose_argmax(in, out);
  if (protocol.capacity > 0) serve_first(out, in.cells, in.parents, protocol.capacity);
}

void choose_batch_prioritized(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  choose_argmax(in, out);
  if (protocol.capacity_factor <= 0) return;
  // choice_weight holds the confidence until route() writes the weights.
  for (int64_t c = 0; c < in.cells; ++c)
    out.choice_weight[c] = usable(softmax_at(in.data + c * in.branches, in.branches, out.choice[c]));
  serve_most_confident(out, in.cells, capacity_of(protocol.capacity_factor, in.cells, in.branches));
}

void choose_sigmoid_groups(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  const int32_t per_group = in.branches / protocol.groups;
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data + c * in.branches;
    const auto corrected = [&](int32_t b) { return usable(sigmoid(s[b]) + (in.bias ? in.bias[b] : 0.0f)); };
    // A group's score is the sum of its two best corrected scores (DeepSeek-V3 report, section 2.1.2).
    int32_t kept[kMostChoices];
    const auto group_score = [&](int32_t g) {
      int32_t two[2];
      const int32_t take = std::min(2, per_group);
      select_top([&](int32_t i) { return corrected(g * per_group + i); }, per_group, take, two);
      float sum = 0;
      for (int32_t i = 0; i < take; ++i) sum += corrected(g * per_group + two[i]);
      return sum;
    };
    const float group_rest = select_top(group_score, protocol.groups, protocol.groups_kept, kept);
    bool allowed[kMostBranches] = {};
    for (int32_t i = 0; i < protocol.groups_kept; ++i) std::fill_n(allowed + kept[i] * per_group, per_group, true);
    int32_t* chosen = out.choice + c * out.fan_out;
    const float rest =
        select_top([&](int32_t b) { return allowed[b] ? corrected(b) : kLowest; }, in.branches, protocol.k, chosen);
    // Both cuts count. A group's score moves by up to twice what a branch's does.
    const float branch_margin = distance(corrected(chosen[protocol.k - 1]), rest);
    const bool all_groups = protocol.groups_kept >= protocol.groups;
    out.margin[c] =
        all_groups ? branch_margin
                   : std::min(branch_margin, distance(group_score(kept[protocol.groups_kept - 1]), group_rest) / 2);
  }
}

void choose_threshold(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  for (int64_t c = 0; c < in.cells; ++c) {
    const float* s = in.data + c * in.branches;
    int32_t* chosen = out.choice + c * out.fan_out;
    int32_t count = 0;
    float margin = std::numeric_limits<float>::infinity();
    for (int32_t b = 0; b < in.branches; ++b) {
      if (s[b] > protocol.threshold) chosen[count++] = b;
      margin = std::min(margin, std::fabs(s[b] - protocol.threshold));
    }
    // Descending score, ties by index: the list is short, insertion keeps it in place.
    for (int32_t i = 1; i < count; ++i)
      for (int32_t j = i; j > 0 && s[chosen[j]] > s[chosen[j - 1]]; --j) std::swap(chosen[j], chosen[j - 1]);
    if (count == 0 && protocol.residual >= 0) chosen[count++] = protocol.residual;
    std::fill(chosen + count, chosen + out.fan_out, kNoBranch);
    out.margin[c] = margin;
  }
}

void choose_residual_threshold(const ScoreView& in, const Protocol& protocol, DecisionView& out) {
  const int32_t residual = residual_branch(protocol);
  for (int64_t c = 0; c < in.cells; ++c) {
    float sum = 0;
    for (int32_t b = 0; b < in.branches; ++b) sum += in.data[c * in.branches + b];
    out.choice[c] = sum < protocol.threshold || std::isnan(sum) ? residual : 1 - residual;
    out.margin[c] = distance(sum, protocol.threshold);
  }
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
