// A router with disabled branches or another capacity: the oracle sorts the branches that are left, takes the first ones
// and counts their places. It shares neither the selection nor the places of core/cell, nor the graph that changes them
// there.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/cell/choose.h"
#include "core/cell/intervention.h"
#include "core/cell/protocol_row.h"

namespace stormcell::reference {

/// Decides about the cells of one router; `off`: branches that are never chosen, not all of them; `capacity`: in the
/// place of the rule's own, null: that.
class ChoiceOfOthers {
 public:
  ChoiceOfOthers(const ScoreView& scores, const Protocol& rule, const std::vector<int32_t>& off, int32_t branches,
                 const Capacity* capacity = nullptr)
      : scores_(scores),
        rule_(rule),
        off_(off.begin(), off.end()),
        branches_(branches),
        capacity_(capacity ? *capacity : own_capacity(rule)) {}

  /// Choices and margins of all cells.
  void write(DecisionView& out) const {
    for (int64_t c = 0; c < scores_.cells; ++c) {
      const auto [chosen, margin] = of_cell(scores_.data + c * scores_.branches);
      std::fill_n(out.choice + c * out.fan_out, out.fan_out, kNoBranch);
      std::copy(chosen.begin(), chosen.end(), out.choice + c * out.fan_out);
      out.margin[c] = margin;
    }
    if (capacity_.unit == Capacity::Unit::cells) keep_first(out);
    if (capacity_.unit == Capacity::Unit::factor) keep_surest(out);
  }

 private:
  struct Choice {
    std::vector<int32_t> branches;  ///< the best first
    float margin = std::numeric_limits<float>::infinity();
  };
  using Ranked = std::vector<std::pair<float, int32_t>>;  // score and number, the best first

  static Capacity own_capacity(const Protocol& rule) {
    if (mixes_parent(rule)) return {Capacity::Unit::cells, static_cast<double>(rule.capacity)};
    if (mixes_batch(rule)) return {Capacity::Unit::factor, rule.capacity_factor};
    return {};
  }
  /// The first cells of each parent keep their branch, as many as it has places.
  void keep_first(DecisionView& out) const {
    std::map<std::pair<int64_t, int32_t>, int64_t> taken;  // by parent and branch
    for (int64_t c = 0; c < scores_.cells; ++c)
      for (int64_t i = c * out.fan_out; i < (c + 1) * out.fan_out; ++i)
        if (int32_t& choice = out.choice[i]; is_kept(choice))
          if (static_cast<double>(++taken[{scores_.parents.of(c), choice}]) > capacity_.value)
            choice = dropped_from(choice);
  }
  /// The most confident cells of the batch keep their branch; of one choice each.
  void keep_surest(DecisionView& out) const {
    const int64_t even_share = (scores_.cells + branches_ - 1) / branches_;
    const auto places = static_cast<int64_t>(capacity_.value * static_cast<double>(even_share));
    std::map<int32_t, Ranked> wanted;  // confidence and cell, by branch
    for (int64_t c = 0; c < scores_.cells; ++c)
      wanted[out.choice[c]].emplace_back(share(scores_.data + c * scores_.branches, out.choice[c]),
                                         static_cast<int32_t>(c));
    for (auto& [branch, cells] : wanted) {
      sort(cells);
      for (int64_t i = places; i < std::ssize(cells); ++i) out.choice[cells[i].second] = dropped_from(branch);
    }
  }

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
  const Capacity capacity_;
};

}  // namespace stormcell::reference
