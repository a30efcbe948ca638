#include "core/experiment/compare_decisions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/cell/protocol_row.h"

namespace stormcell {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

int32_t branch_of(int32_t choice) { return is_dropped(choice) ? ~choice : choice; }

// As the protocols compare: what is no number is below everything.
double usable(float score) { return std::isnan(score) ? -kNever : static_cast<double>(score); }
double distance(double a, double b) {
  const double d = a - b;
  return std::isnan(d) ? 0 : std::max(0.0, d);
}

/// Lost and gained branches of a rule that takes the largest: each gained one has to overtake each lost one.
template <class Score>
double overtaking(const ChoiceDifference& difference, Score score) {
  double margin = 0;
  for (const int32_t l : difference.lost)
    for (const int32_t g : difference.gained) margin = std::max(margin, distance(score(l), score(g)));
  return margin;
}

double threshold_margin(const Protocol& protocol, const float* scores, const ChoiceDifference& difference) {
  double margin = 0;
  const size_t changed = difference.lost.size() + difference.gained.size();
  for (const auto* side : {&difference.lost, &difference.gained})
    for (const int32_t b : *side) {
      if (b == protocol.residual && changed > 1) continue;  // it stands in for the branches that did not reach the threshold
      margin = std::max(margin, std::fabs(static_cast<double>(scores[b]) - static_cast<double>(protocol.threshold)));
    }
  return margin;
}

double groups_margin(const JudgedDecision& r, const float* scores, const ChoiceDifference& difference) {
  const Protocol& p = r.protocol;
  const int32_t per_group = r.shape.branches / p.groups;
  const auto corrected = [&](int32_t b) {
    const double s = 1 / (1 + std::exp(-static_cast<double>(scores[b])));
    return std::isnan(s) ? -kNever : s + (r.bias.empty() ? 0.0 : static_cast<double>(r.bias[static_cast<size_t>(b)]));
  };
  std::vector<double> group(static_cast<size_t>(p.groups));
  for (int32_t g = 0; g < p.groups; ++g) {
    double first = -kNever, second = -kNever;
    for (int32_t b = g * per_group; b < (g + 1) * per_group; ++b) {
      const double s = corrected(b);
      second = std::max(second, std::min(first, s));
      first = std::max(first, s);
    }
    group[static_cast<size_t>(g)] = per_group > 1 ? first + second : first;
  }
  std::vector<double> sorted = group;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double last_kept = sorted[static_cast<size_t>(std::clamp(p.groups_kept, 1, p.groups) - 1)];
  double margin = 0;
  for (const int32_t l : difference.lost)
    for (const int32_t g : difference.gained) {
      const double of_lost = group[static_cast<size_t>(l / per_group)], of_gained = group[static_cast<size_t>(g / per_group)];
      // Either branch overtakes branch, or the group of the lost one fell out. A group's score moves by twice what a branch's does.
      const double by_branch = distance(corrected(l), corrected(g)), by_group = distance(of_lost, of_gained) / 2;
      margin = std::max({margin, distance(last_kept, of_gained) / 2, std::min(by_branch, by_group > 0 ? by_group : by_branch)});
    }
  return margin;
}

/// What priority ranks: softmax at `branch`. NaN: not known.
double confidence(const JudgedDecision& d, int64_t cell, int64_t slot) {
  const auto at = static_cast<size_t>(cell * d.shape.fan_out + slot);
  if (d.scores.empty()) return d.protocol.renormalize ? NAN : static_cast<double>(d.weight[at]) / static_cast<double>(d.protocol.scale);
  const float* scores = d.scores.data() + cell * d.score_columns;
  const double own = usable(scores[branch_of(d.choice[at])]);
  double sum = 0;
  for (int32_t b = 0; b < d.score_columns; ++b) sum += std::exp(static_cast<double>(scores[b]) - own);
  return 1 / sum;
}

}  // namespace

std::vector<CellPair> pair_cells(const JudgedDecision& a, const JudgedDecision& b) {
  std::vector<CellPair> pairs;
  if (a.above == b.above && a.place == b.place) {
    for (int64_t c = 0; c < a.shape.cells; ++c) pairs.push_back({c, c});
    return pairs;
  }
  std::map<std::vector<int32_t>, int64_t> known;
  const auto place = [](const JudgedDecision& d, int64_t cell) {
    const auto from = d.place.begin() + cell * static_cast<int64_t>(d.depth());
    return std::vector<int32_t>(from, from + static_cast<int64_t>(d.depth()));
  };
  // Branches of other routers are other branches.
  if (a.above == b.above)
    for (int64_t c = 0; c < b.shape.cells; ++c) known.emplace(place(b, c), c);
  std::vector<bool> taken(static_cast<size_t>(b.shape.cells));
  for (int64_t c = 0; c < a.shape.cells; ++c) {
    const auto at = known.find(place(a, c));
    pairs.push_back({c, at == known.end() ? -1 : at->second});
    if (at != known.end()) taken[static_cast<size_t>(at->second)] = true;
  }
  for (int64_t c = 0; c < b.shape.cells; ++c)
    if (!taken[static_cast<size_t>(c)]) pairs.push_back({-1, c});
  return pairs;
}

bool decided_alike(const std::vector<JudgedDecision>& reference, const std::vector<JudgedDecision>& other) {
  return std::all_of(reference.begin(), reference.end(), [&](const JudgedDecision& r) {
    return std::any_of(other.begin(), other.end(), [&](const JudgedDecision& o) {
      return o.router == r.router && o.execution == r.execution && o.above == r.above && o.place == r.place && o.choice == r.choice;
    });
  });
}

ChoiceDifference difference_of(const int32_t* reference, const int32_t* other, int32_t fan_out) {
  const auto missing_from = [fan_out](const int32_t* from, const int32_t* in) {
    std::vector<int32_t> missing;
    for (int32_t j = 0; j < fan_out; ++j) {
      if (from[j] == kNoBranch) continue;
      const int32_t b = branch_of(from[j]);
      bool found = false;
      for (int32_t i = 0; i < fan_out; ++i) found |= in[i] != kNoBranch && branch_of(in[i]) == b;
      if (!found) missing.push_back(b);
    }
    return missing;
  };
  return {missing_from(reference, other), missing_from(other, reference)};
}

double flip_margin(const JudgedDecision& r, int64_t cell, const ChoiceDifference& difference) {
  const double cut = static_cast<double>(r.margin[static_cast<size_t>(cell)]);
  if (r.scores.empty()) return cut;
  const float* scores = r.scores.data() + cell * r.score_columns;
  switch (protocol_row(r.protocol.kind).margin) {
    case MarginOf::scores:
      return overtaking(difference, [&](int32_t b) { return usable(scores[b]); });
    case MarginOf::groups:
      return groups_margin(r, scores, difference);
    case MarginOf::each_score:
      return threshold_margin(r.protocol, scores, difference);
    case MarginOf::sum:
    case MarginOf::largest_share:
      return cut;
    case MarginOf::none:
      return kNever;
  }
  return cut;
}

int32_t dropped_otherwise(const int32_t* reference, const int32_t* other, int32_t fan_out) {
  for (int32_t i = 0; i < fan_out; ++i)
    for (int32_t j = 0; j < fan_out; ++j)
      if (reference[i] != kNoBranch && other[j] == ~reference[i]) return branch_of(reference[i]);
  return kNoBranch;
}

int64_t sharing(const JudgedDecision& d, int64_t cell) {
  if (d.per_parent <= 0 || d.protocol.mixes_batch()) return 0;
  // A parent that was sent to several branches is several parents. No router has more than 4,096 branches.
  int64_t number = d.row(cell) / d.per_parent;
  for (size_t i = 1; i < d.depth(); ++i) number = number << 12 | d.place[static_cast<size_t>(cell) * d.depth() + i];
  return number;
}

double drop_margin(const JudgedDecision& r, int64_t cell, int32_t branch) {
  if (!r.protocol.mixes_batch()) return kNever;
  double own = 0, least_kept = kNever, most_dropped = -kNever;
  bool is_kept_there = false;
  for (int64_t i = 0; i < r.shape.slot_count(); ++i) {
    const int32_t choice = r.choice[static_cast<size_t>(i)];
    if (choice == kNoBranch || branch_of(choice) != branch) continue;
    const int64_t c = i / r.shape.fan_out;
    const double x = confidence(r, c, i % r.shape.fan_out);
    if (std::isnan(x)) return 0;
    if (c == cell) own = x, is_kept_there = is_kept(choice);
    if (is_kept(choice)) least_kept = std::min(least_kept, x);
    if (is_dropped(choice)) most_dropped = std::max(most_dropped, x);
  }
  return is_kept_there ? own - most_dropped : least_kept - own;
}

double score_scale(const JudgedDecision& r) {
  double scale = 0;
  const MarginOf margin = protocol_row(r.protocol.kind).margin;
  if (margin == MarginOf::largest_share) return 1;
  if (margin == MarginOf::groups) {
    for (const float bias : r.bias)
      if (std::isfinite(bias)) scale = std::max(scale, std::fabs(static_cast<double>(bias)));
    return 1 + scale;
  }
  for (int64_t c = 0; r.score_columns > 0 && c < r.shape.cells; ++c) {
    double most = 0, sum = 0;
    for (int32_t b = 0; b < r.score_columns; ++b) {
      const double s = std::fabs(static_cast<double>(r.scores[static_cast<size_t>(c * r.score_columns + b)]));
      if (!std::isfinite(s)) continue;
      most = std::max(most, s);
      sum += s;
    }
    scale = std::max(scale, margin == MarginOf::sum ? sum : most);
  }
  return scale;
}

int64_t wrong_drops(const JudgedDecision& d, const std::vector<int32_t>& choice, const std::vector<float>* weight) {
  const Protocol& p = d.protocol;
  const int64_t cells = d.shape.cells, slots = d.shape.slot_count();
  const auto branches = static_cast<size_t>(d.shape.branches);
  int64_t wrong = 0;
  if (p.mixes_batch()) {
    const int64_t per_branch = (cells + d.shape.branches - 1) / d.shape.branches;
    const auto capacity = static_cast<int64_t>(p.capacity_factor * static_cast<double>(per_branch));
    // Of each branch as many as fit are kept, and none that is dropped is more confident than one that is kept. What lies closer than
    // rounding may stand either way.
    std::vector<int64_t> wanted(branches), dropped(branches);
    std::vector<double> least_kept(branches, kNever), most_dropped(branches, -kNever);
    for (int64_t i = 0; i < slots; ++i) {
      const int32_t c = choice[static_cast<size_t>(i)];
      if (c == kNoBranch) continue;
      const auto b = static_cast<size_t>(branch_of(c));
      const double w = weight ? static_cast<double>((*weight)[static_cast<size_t>(i)]) : 0;
      ++wanted[b];
      dropped[b] += is_dropped(c);
      if (is_dropped(c)) most_dropped[b] = std::max(most_dropped[b], w);
      if (is_kept(c)) least_kept[b] = std::min(least_kept[b], w);
    }
    for (size_t b = 0; b < branches; ++b) {
      wrong += std::abs(dropped[b] - std::max<int64_t>(0, wanted[b] - capacity));
      wrong += weight && !p.renormalize && most_dropped[b] > least_kept[b] * (1 + 1e-6);
    }
    return wrong;
  }
  const int64_t capacity = p.mixes_parent() ? p.capacity : std::numeric_limits<int64_t>::max();
  int64_t parent = -1;
  std::vector<int64_t> counts(branches);
  for (int64_t i = 0; i < slots; ++i) {
    const int64_t of = sharing(d, i / d.shape.fan_out);
    if (of != parent) std::fill(counts.begin(), counts.end(), 0), parent = of;
    const int32_t c = choice[static_cast<size_t>(i)];
    if (c != kNoBranch) wrong += (++counts[static_cast<size_t>(branch_of(c))] > capacity) != is_dropped(c);
  }
  return wrong;
}

}  // namespace stormcell
