// Scores to choices, weights and margins: the rules of core/cell/choose.cpp, kLanes threads a cell.
// Bound: reading the scores. Choices are exactly the CPU's for equal scores; sums over a softmax differ in their order,
// so weights in the last bits.
#pragma once
#include "gpu/base/execution.h"
#include "gpu/routing/rule.h"

namespace stormcell::gpu {

struct ChooseArgs {
  const float* scores = nullptr;  ///< [cells, branches]
  const float* bias = nullptr;    ///< [branches] of sigmoid_groups, nullable
  int32_t cells = 0, branches = 1;
  Rule rule;
  int32_t* choice = nullptr;       ///< [cells, fan_out]
  float* choice_weight = nullptr;  ///< [cells, fan_out]
  float* margin = nullptr;         ///< [cells]
};

/// NaN counts as the lowest score.
STORMCELL_BOTH inline float usable(float score) { return score != score ? -kInfinity : score; }
/// Distance of a choice from the other one; 0 if a broken score makes it no number, since any choice was possible.
STORMCELL_BOTH inline float distance(float chosen, float other) {
  const float d = fabsf(chosen - other);
  return d != d ? 0.0f : d;
}
STORMCELL_BOTH inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

/// A score with its index; the larger score wins, then the lower index. {-inf, INT32_MAX}: none.
struct Best {
  float score = -kInfinity;
  int32_t index = INT32_MAX;
};
STORMCELL_BOTH inline bool is_better(Best a, Best b) {
  return a.score > b.score || (a.score == b.score && a.index < b.index);
}

/// kLanes neighbouring lanes that work on one cell; each holds kHeld scores: lane + i * kLanes.
template <int kLanes, int kHeld, class X>
struct Lanes {
  X& x;
  int lane;

  STORMCELL_DEVICE float largest(float value) {
    STORMCELL_UNROLL
    for (int mask = kLanes / 2; mask > 0; mask /= 2) {
      const float other = x.shuffle_xor(value, mask);
      value = value < other ? other : value;
    }
    return value;
  }
  STORMCELL_DEVICE float sum(float value) {
    STORMCELL_UNROLL
    for (int mask = kLanes / 2; mask > 0; mask /= 2) value += x.shuffle_xor(value, mask);
    return value;
  }
  /// The best of the held scores that are not `gone` (a bit each); the same in all lanes.
  STORMCELL_DEVICE Best best(const float (&held)[kHeld], uint32_t gone) {
    Best mine;
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) {
      const Best other{usable(held[i]), lane + i * kLanes};
      if (!(gone >> i & 1) && is_better(other, mine)) mine = other;
    }
    STORMCELL_UNROLL
    for (int mask = kLanes / 2; mask > 0; mask /= 2) {
      const Best other{x.shuffle_xor(mine.score, mask), x.shuffle_xor(mine.index, mask)};
      if (is_better(other, mine)) mine = other;
    }
    return mine;
  }
  /// Takes a score out of the choice.
  STORMCELL_DEVICE void take(Best taken, uint32_t& gone) const {
    if (taken.index % kLanes == lane) gone |= 1u << (taken.index / kLanes);
  }
  /// Bits of the held scores at or beyond n.
  STORMCELL_DEVICE uint32_t beyond(int32_t n) const {
    uint32_t gone = 0;
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) gone |= static_cast<uint32_t>(lane + i * kLanes >= n) << i;
    return gone;
  }
};

/// kLanes * kHeld is at least the number of branches.
template <int kLanes, int kHeld>
struct ChooseKernel {
  using Args = ChooseArgs;
  static constexpr int kThreads = 256, kCells = kThreads / kLanes;  // a block, at once
  struct Shared {
    // Only for choices in groups: numbers that a cell's lanes exchange.
    float corrected[kCells][kLanes * kHeld];
    uint8_t group_is_kept[kCells][kLanes * kHeld];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    const int place = x.thread() / kLanes;
    // All lanes of a warp go on together: those past the last cell repeat it and write nothing.
    for (int64_t first = static_cast<int64_t>(x.block()) * kCells; first < a.cells;
         first += static_cast<int64_t>(x.blocks()) * kCells) {
      const bool live = first + place < a.cells;
      const int64_t cell = live ? first + place : a.cells - 1;
      switch (a.rule.choose) {
        case DeviceChoice::above_threshold:
          over_threshold(x, a, cell, live);
          break;
        case DeviceChoice::in_groups:
          of_groups(x, a, cell, live);
          break;
        default:
          largest_k(x, a, cell, live);
      }
    }
  }

 private:
  template <class X>
  STORMCELL_DEVICE static Lanes<kLanes, kHeld, X> lanes(X& x) {
    return {x, x.thread() % kLanes};
  }
  STORMCELL_DEVICE static float factor(const Rule& rule, float chosen) {
    return rule.scale / (rule.renormalize && chosen > 0 ? chosen : 1.0f);
  }

  /// The k largest, weighed by a softmax over all, over the chosen, or by their scores.
  template <class X>
  STORMCELL_DEVICE static void largest_k(X& x, const Args& a, int64_t cell, bool live) {
    auto all = lanes(x);
    const float* s = a.scores + cell * a.branches;
    float held[kHeld];
    uint32_t gone = all.beyond(a.branches);
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) held[i] = gone >> i & 1 ? 0 : x.load_once(s + all.lane + i * kLanes);

    const bool over_all = a.rule.softmax == SoftmaxPlace::before;
    const bool over_chosen = a.rule.softmax == SoftmaxPlace::after;
    float top = -kInfinity, sum = 1;
    if (over_all) {
      STORMCELL_UNROLL
      for (int i = 0; i < kHeld; ++i)
        if (!(gone >> i & 1) && top < held[i]) top = held[i];
      top = all.largest(top);
      // A NaN among the scores makes all weights NaN: a broken router must show.
      sum = 0;
      STORMCELL_UNROLL
      for (int i = 0; i < kHeld; ++i)
        if (!(gone >> i & 1)) sum += expf(held[i] - top);
      sum = all.sum(sum);
    }

    int32_t* choice = a.choice + cell * a.rule.k;
    float* weight = a.choice_weight + cell * a.rule.k;
    float chosen = 0, last = 0;
    for (int j = 0; j < a.rule.k; ++j) {
      const Best best = all.best(held, gone);
      all.take(best, gone);
      // Read from memory only if it may be no number, which counts as the lowest score: otherwise every choice would
      // wait for it.
      const float score = best.score > -kInfinity ? best.score : s[best.index];
      if (over_chosen && j == 0) top = best.score;
      const float w = over_all ? expf(score - top) / sum : over_chosen ? expf(score - top) : score;
      chosen += w;
      last = best.score;
      if (live && all.lane == j % kLanes) choice[j] = best.index, weight[j] = w;
    }
    // After a softmax over the chosen, their sum is one already, and `chosen` is the divisor.
    const float times = over_chosen ? a.rule.scale / chosen : factor(a.rule, chosen);
    if (live && times != 1)
      for (int j = all.lane; j < a.rule.k; j += kLanes) weight[j] *= times;
    const float rest = a.branches > a.rule.k ? all.best(held, gone).score : 0;
    if (live && all.lane == 0) a.margin[cell] = a.branches > a.rule.k ? distance(last, rest) : kInfinity;
  }

  /// Chooses every branch above the threshold, in descending score; without one the residual branch, if there is one.
  template <class X>
  STORMCELL_DEVICE static void over_threshold(X& x, const Args& a, int64_t cell, bool live) {
    auto all = lanes(x);
    const float* s = a.scores + cell * a.branches;
    float held[kHeld];
    uint32_t gone = all.beyond(a.branches);
    float nearest = kInfinity;
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) {
      held[i] = gone >> i & 1 ? 0 : x.load_once(s + all.lane + i * kLanes);
      const float away = fabsf(held[i] - a.rule.threshold);
      if (!(gone >> i & 1) && away < nearest) nearest = away;
    }
    nearest = -all.largest(-nearest);

    int32_t* choice = a.choice + cell * a.branches;
    float* weight = a.choice_weight + cell * a.branches;
    float chosen = 0;
    int count = 0;
    for (;;) {
      const Best best = all.best(held, gone);
      const bool hit = best.score > a.rule.threshold;
      if (x.ballot(hit) == 0) break;  // in no cell of this warp
      if (!hit) continue;
      all.take(best, gone);
      if (live && all.lane == count % kLanes) choice[count] = best.index, weight[count] = best.score;
      chosen += best.score;
      ++count;
    }
    if (count == 0 && a.rule.residual >= 0) {
      chosen = s[a.rule.residual];
      if (live && all.lane == 0) choice[0] = a.rule.residual, weight[0] = chosen;
      count = 1;
    }
    const float times = factor(a.rule, chosen);
    if (!live) return;
    for (int j = all.lane; j < a.branches; j += kLanes) {
      if (j >= count)
        choice[j] = kNoBranch, weight[j] = 0;
      else if (times != 1)
        weight[j] *= times;
    }
    if (all.lane == 0) a.margin[cell] = nearest;
  }

  /// Sigmoid with bias correction, limited to the best groups.
  template <class X>
  STORMCELL_DEVICE static void of_groups(X& x, const Args& a, int64_t cell, bool live) {
    auto all = lanes(x);
    Shared& shared = x.template shared<Shared>();
    float* corrected = shared.corrected[x.thread() / kLanes];
    uint8_t* group_is_kept = shared.group_is_kept[x.thread() / kLanes];
    const float* s = a.scores + cell * a.branches;
    const int32_t per_group = a.branches / a.rule.groups;
    float held[kHeld];
    const uint32_t no_branch = all.beyond(a.branches), no_group = all.beyond(a.rule.groups);
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) {
      held[i] = 0;
      const int32_t b = all.lane + i * kLanes;
      group_is_kept[b] = 0;
      if (no_branch >> i & 1) continue;
      corrected[b] = held[i] = usable(sigmoid(x.load_once(s + b)) + (a.bias ? a.bias[b] : 0.0f));
    }
    x.sync_warp();

    // A group's score is the sum of its two best.
    float group[kHeld];
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) {
      group[i] = 0;
      if (no_group >> i & 1) continue;
      const float* member = corrected + (all.lane + i * kLanes) * per_group;
      float first = member[0], second = -kInfinity;
      for (int m = 1; m < per_group; ++m) {
        const float score = member[m];
        second = score > first ? first : score > second ? score : second;
        first = score > first ? score : first;
      }
      group[i] = per_group > 1 ? first + second : first;
    }
    uint32_t gone = no_group;
    float last_group = 0;
    for (int j = 0; j < a.rule.groups_kept; ++j) {
      const Best best = all.best(group, gone);
      all.take(best, gone);
      last_group = best.score;
      if (all.lane == 0) group_is_kept[best.index] = 1;
    }
    const float rest_group = all.best(group, gone).score;
    x.sync_warp();
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i)
      if (!(no_branch >> i & 1) && !group_is_kept[(all.lane + i * kLanes) / per_group]) held[i] = -kInfinity;

    int32_t* choice = a.choice + cell * a.rule.k;
    float* weight = a.choice_weight + cell * a.rule.k;
    gone = no_branch;
    float chosen = 0, last = 0;
    for (int j = 0; j < a.rule.k; ++j) {
      const Best best = all.best(held, gone);
      all.take(best, gone);
      const float w = sigmoid(s[best.index]);
      chosen += w;
      last = corrected[best.index];
      if (live && all.lane == j % kLanes) choice[j] = best.index, weight[j] = w;
    }
    const float times = factor(a.rule, chosen);
    if (live && times != 1)
      for (int j = all.lane; j < a.rule.k; j += kLanes) weight[j] *= times;
    // Both cuts count: that between branches and that between groups. A group's score moves by up to twice a branch's.
    float margin = distance(last, all.best(held, gone).score);
    if (a.rule.groups_kept < a.rule.groups) margin = least(margin, distance(last_group, rest_group) / 2);
    if (live && all.lane == 0) a.margin[cell] = margin;
    x.sync_warp();  // the next cell writes the shared scores again
  }
};

}  // namespace stormcell::gpu
