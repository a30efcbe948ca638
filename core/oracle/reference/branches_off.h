// A router with disabled branches: the oracle sorts the others and takes the first ones. It shares neither the
// selection of core/cell nor the graph that disables branches there.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/cell/capacity.h"
#include "core/cell/choose.h"
#include "core/cell/protocol_row.h"

namespace stormcell::reference {

/// Decides about the cells of one router; `off`: branches that are never chosen, not all of them.
class ChoiceOfOthers {
 public:
  ChoiceOfOthers(const ScoreView& scores, const Protocol& rule, const std::vector<int32_t>& off, int32_t branches)
      : scores_(scores), rule_(rule), off_(off.begin(), off.end()), branches_(branches) {}

  /// Choices and margins of all cells; capacity drops as it always does.
  void write(DecisionView& out) const {
    for (int64_t c = 0; c < scores_.cells; ++c) {
      const auto [chosen, margin] = of_cell(scores_.data + c * scores_.branches);
      std::fill_n(out.choice + c * out.fan_out, out.fan_out, kNoBranch);
      std::copy(chosen.begin(), chosen.end(), out.choice + c * out.fan_out);
      out.margin[c] = margin;
    }
    if (mixes_parent(rule_)) serve_first(out, scores_.cells, scores_.parents, rule_.capacity);
    if (!mixes_batch(rule_)) return;
    for (int64_t c = 0; c < scores_.cells; ++c)
      out.choice_weight[c] = share(scores_.data + c * scores_.branches, out.choice[c]);
    serve_most_confident(out, scores_.cells, capacity_of(rule_.capacity_factor, scores_.cells, branches_));
  }

 private:
  struct Choice {
    std::vector<int32_t> branches;  ///< the best first
    float margin = std::numeric_limits<float>::infinity();
  };
  using Ranked = std::vector<std::pair<float, int32_t>>;  // score and number, the best first

  static float usable(float x) { return std::isnan(x) ? -std::numeric_limits<float>::infinity() : x; }
  static float apart(float a, float b) { return std::isnan(a - b) ? 0 : std::fabs(a - b); }
  static void sort(Ranked& list) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  }
  /// The first k, and how far the last of them is from the next.
  static Choice first_of(const Ranked& list, size_t k) {
    Choice choice;
    for (size_t i = 0; i < k; ++i) choice.branches.push_back(list.at(i).second);
    if (list.size() > k) choice.margin = apart(list[k - 1].first, list[k].first);
    return choice;
  }
  /// As a softmax over all scores, disabled branches included.
  float share(const float* scores, int32_t branch) const {
    const float most = usable(
        *std::max_element(scores, scores + scores_.branches, [](float a, float b) { return usable(a) < usable(b); }));
    float sum = 0;
    for (int32_t b = 0; b < scores_.branches; ++b) sum += std::exp(scores[b] - most);
    return usable(std::exp(scores[branch] - most) / sum);
  }

  template <class Score>
  Ranked others(int32_t first, int32_t end, Score score) const {
    Ranked list;
    for (int32_t b = first; b < end; ++b)
      if (!off_.contains(b)) list.emplace_back(score(b), b);
    sort(list);
    return list;
  }

  Choice of_cell(const float* scores) const {
    const auto plain = [&](int32_t b) { return usable(scores[b]); };
    switch (protocol_row(rule_.kind).margin) {
      case MarginOf::scores:
        return first_of(others(0, branches_, plain), static_cast<size_t>(fan_out_of(rule_, branches_)));
      case MarginOf::groups:
        return among_groups(scores);
      case MarginOf::each_score:
        return above_threshold(scores);
      case MarginOf::sum:
      case MarginOf::largest_share:
        return {{off_.contains(0) ? 1 : 0}};  // of two branches the one that is left
      case MarginOf::none:
        break;
    }
    failed("branches that are off", "a label decides, and there is no next best branch");
  }

  Choice among_groups(const float* scores) const {
    const auto corrected = [&](int32_t b) {
      return usable(sigmoid(scores[b]) + (scores_.bias ? scores_.bias[b] : 0.0F));
    };
    const int32_t each = branches_ / rule_.groups;
    Ranked groups;
    for (int32_t g = 0; g < rule_.groups; ++g) {
      const Ranked members = others(g * each, (g + 1) * each, corrected);
      float sum = 0;
      for (size_t i = 0; i < std::min<size_t>(2, members.size()); ++i) sum += members[i].first;
      if (!members.empty()) groups.emplace_back(sum, g);
    }
    sort(groups);
    const size_t kept = std::min(groups.size(), static_cast<size_t>(rule_.groups_kept));
    std::set<int32_t> open;
    for (size_t i = 0; i < kept; ++i) open.insert(groups[i].second);
    Ranked list;
    for (const auto& [score, b] : others(0, branches_, corrected))
      if (open.contains(b / each)) list.emplace_back(score, b);
    Choice choice = first_of(list, static_cast<size_t>(rule_.k));
    if (kept < groups.size())
      choice.margin = std::min(choice.margin, apart(groups[kept - 1].first, groups[kept].first) / 2);
    return choice;
  }

  Choice above_threshold(const float* scores) const {
    Choice choice;
    for (const auto& [score, b] : others(0, branches_, [&](int32_t b) { return usable(scores[b]); })) {
      if (score > rule_.threshold) choice.branches.push_back(b);
      choice.margin = std::min(choice.margin, std::fabs(score - rule_.threshold));
    }
    if (choice.branches.empty() && rule_.residual >= 0 && !off_.contains(rule_.residual))
      choice.branches.push_back(rule_.residual);
    return choice;
  }

  const ScoreView& scores_;
  const Protocol& rule_;
  const std::set<int32_t> off_;
  const int32_t branches_;
};

}  // namespace stormcell::reference
