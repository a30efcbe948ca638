#include "core/verification/compare_decisions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/cell/protocol_row.h"
#include "core/verification/relative_error.h"

namespace stormcell {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Scores compare as in the protocols: NaN is below everything.
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
      if (b == protocol.residual && changed > 1)
        continue;  // it stands in for the branches that did not reach the threshold
      margin = std::max(margin, std::fabs(static_cast<double>(scores[b]) - static_cast<double>(protocol.threshold)));
    }
  return margin;
}

/// Sigmoids with their correction, of branches and of groups.
struct CorrectedScores {
  CorrectedScores(const JudgedDecision& r, const float* scores) : per_group(r.shape.branches / r.protocol.groups) {
    for (int32_t b = 0; b < r.shape.branches; ++b) {
      const double s = 1 / (1 + std::exp(-static_cast<double>(scores[b])));
      branch.push_back(std::isnan(s) ? -kNever : s + (r.bias.empty() ? 0.0 : static_cast<double>(r.bias[b])));
    }
    for (int32_t g = 0; g < r.protocol.groups; ++g) {
      double first = -kNever, second = -kNever;
      for (int32_t b = g * per_group; b < (g + 1) * per_group; ++b) {
        second = std::max(second, std::min(first, of(b)));
        first = std::max(first, of(b));
      }
      group.push_back(per_group > 1 ? first + second : first);
    }
    std::vector<double> sorted = group;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const size_t kept = std::clamp(r.protocol.groups_kept, 1, r.protocol.groups);
    last_kept = sorted[kept - 1];
    first_left = kept < sorted.size() ? sorted[kept] : -kNever;
  }
  double of(int32_t b) const { return branch[b]; }
  double of_group(int32_t b) const { return group[b / per_group]; }

  int32_t per_group;
  std::vector<double> branch, group;
  double last_kept, first_left;  ///< groups at the cut; no group is left: -infinity
};

double groups_margin(const JudgedDecision& r, const float* scores, const ChoiceDifference& difference) {
  const CorrectedScores corrected(r, scores);
  double margin = 0;
  for (const int32_t l : difference.lost)
    for (const int32_t g : difference.gained) {
      // Either branch overtakes branch, or the group of the lost one fell out. A group's score moves by twice what a
      // branch's does.
      const double by_branch = distance(corrected.of(l), corrected.of(g)),
                   by_group = distance(corrected.of_group(l), corrected.of_group(g)) / 2;
      margin = std::max({margin, distance(corrected.last_kept, corrected.of_group(g)) / 2,
                         std::min(by_branch, by_group > 0 ? by_group : by_branch)});
    }
  return margin;
}

/// `kept` is the branch with the lowest score that a cell chose, `next` the one with the highest that it might have
/// chosen; kNoBranch: there is none.
struct Cut {
  int32_t kept = kNoBranch, next = kNoBranch;
};
template <class Score, class Allowed>
Cut cut_of(const JudgedDecision& r, int64_t cell, Score score, Allowed allowed) {
  const int32_t* choice = r.of_cell(r.choice, cell);
  Cut cut;
  for (int32_t b = 0; b < r.score_columns; ++b) {
    bool chosen = false;
    for (int32_t j = 0; j < r.shape.fan_out; ++j) chosen |= branch_of(choice[j]) == b;
    if (chosen && (cut.kept == kNoBranch || score(b) < score(cut.kept))) cut.kept = b;
    if (!chosen && allowed(b) && (cut.next == kNoBranch || score(b) > score(cut.next))) cut.next = b;
  }
  return cut;
}

/// Both branches at the cut; the larger is returned.
template <class Size>
double add_sizes(const Cut& cut, Size size, std::vector<double>& sizes) {
  double larger = 0;
  for (const int32_t b : {cut.kept, cut.next}) {
    if (b == kNoBranch) continue;
    sizes.push_back(size(b));
    larger = std::max(larger, sizes.back());
  }
  return larger;
}

double groups_size(const JudgedDecision& r, int64_t cell, std::vector<double>& sizes) {
  const CorrectedScores corrected(r, r.scores.data() + cell * r.score_columns);
  const Cut cut = cut_of(
      r, cell, [&](int32_t b) { return corrected.of(b); },
      [&](int32_t b) { return corrected.of_group(b) >= corrected.last_kept; });
  const double own = add_sizes(
      cut, [&](int32_t b) { return 1 + (r.bias.empty() ? 0 : size_of(static_cast<double>(r.bias[b]))); }, sizes);
  const double by_group = distance(corrected.last_kept, corrected.first_left) / 2,
               by_branch = cut.kept == kNoBranch || cut.next == kNoBranch
                               ? kNever
                               : distance(corrected.of(cut.kept), corrected.of(cut.next));
  return by_group < by_branch
             ? std::max(own, 1 + std::max(size_of(corrected.last_kept), size_of(corrected.first_left)) / 2)
             : own;
}

/// The score that lies nearest to the threshold; usual is what all of them are.
double threshold_size(const JudgedDecision& r, const float* scores, std::vector<double>& sizes) {
  const double threshold = r.protocol.threshold;
  double nearest = kNever;
  for (int32_t b = 0; b < r.score_columns; ++b) {
    const double score = scores[b];
    sizes.push_back(size_of(score));
    if (std::fabs(score - threshold) < std::fabs(nearest - threshold)) nearest = score;
  }
  return std::max(size_of(nearest), std::fabs(threshold));
}

/// The confidence by which priority ranks: softmax at the branch of choice `i` [cells, fan_out]. NaN: not known.
double confidence(const JudgedDecision& d, int64_t i) {
  const size_t at = i;
  if (d.scores.empty()) return d.protocol.renormalize ? NAN : static_cast<double>(d.weight[at]) / d.protocol.scale;
  const float* scores = d.scores.data() + i / d.shape.fan_out * d.score_columns;
  const double own = usable(scores[branch_of(d.choice[at])]);
  double sum = 0;
  for (int32_t b = 0; b < d.score_columns; ++b) sum += std::exp(static_cast<double>(scores[b]) - own);
  return 1 / sum;
}

/// The least confidence that a branch kept, and the most that it dropped.
struct LastPlace {
  double least_kept = kNever, most_dropped = -kNever;
  bool is_known = true;

  /// The change of a cell's confidence that the other fate needs: below 0 if it should have had that. 0: not known.
  double margin(int32_t choice, double confidence_in_it) const {
    if (!is_known) return 0;
    return is_kept(choice) ? confidence_in_it - most_dropped : least_kept - confidence_in_it;
  }
};
LastPlace last_place(const JudgedDecision& d, int32_t branch) {
  LastPlace last;
  for (int64_t i = 0; i < d.shape.slot_count(); ++i) {
    const int32_t choice = d.choice[i];
    if (branch_of(choice) != branch) continue;
    const double x = confidence(d, i);
    if (std::isnan(x)) last.is_known = false;
    if (is_kept(choice)) last.least_kept = std::min(last.least_kept, x);
    if (is_dropped(choice)) last.most_dropped = std::max(last.most_dropped, x);
  }
  return last;
}

// Both compute the capacity by themselves: an error in the function that routers ask (core/cell/capacity.h) would go
// unseen with it.

/// Counts by two rules: each branch keeps as many as fit, and none that it drops is more confident than one that it
/// keeps. Two that are closer than rounding may be in either order.
int64_t wrong_drops_by_confidence(const JudgedDecision& d, const std::vector<int32_t>& choice,
                                  const std::vector<float>* weight) {
  const int64_t even_share = (d.shape.cells + d.shape.branches - 1) / d.shape.branches;
  const auto capacity = static_cast<int64_t>(d.protocol.capacity_factor * static_cast<double>(even_share));
  // Divided by itself a weight is 1, whatever the confidence: who of those is dropped is judged by the reference's
  // scores alone.
  const bool ranked = weight && !d.protocol.renormalize;
  const size_t branches = d.shape.branches;
  std::vector<int64_t> wanted(branches), dropped(branches);
  std::vector<double> least_kept(branches, kNever), most_dropped(branches, -kNever);
  for (size_t i = 0; i < static_cast<size_t>(d.shape.slot_count()); ++i) {
    const int32_t c = choice[i];
    if (c == kNoBranch) continue;
    const size_t b = branch_of(c);
    ++wanted[b];
    dropped[b] += is_dropped(c);
    if (!ranked) continue;
    const double w = (*weight)[i];
    if (is_dropped(c)) most_dropped[b] = std::max(most_dropped[b], w);
    if (is_kept(c)) least_kept[b] = std::min(least_kept[b], w);
  }
  int64_t wrong = 0;
  for (size_t b = 0; b < branches; ++b) {
    wrong += std::abs(dropped[b] - std::max<int64_t>(0, wanted[b] - capacity));
    wrong += most_dropped[b] > least_kept[b] * (1 + 1e-6);
  }
  return wrong;
}

/// The first cells of each parent are kept, as many as fit in a branch.
int64_t wrong_drops_in_order(const JudgedDecision& d, const std::vector<int32_t>& choice) {
  const int64_t capacity = mixes_parent(d.protocol) ? d.protocol.capacity : std::numeric_limits<int64_t>::max();
  std::vector<int64_t> wanted(d.shape.branches);
  int64_t group = -1, wrong = 0;
  for (int64_t i = 0; i < d.shape.slot_count(); ++i) {
    const int64_t own = capacity_group(d, i / d.shape.fan_out);
    if (own != group) std::fill(wanted.begin(), wanted.end(), 0), group = own;
    const int32_t c = choice[i];
    if (c != kNoBranch) wrong += (++wanted[branch_of(c)] > capacity) != is_dropped(c);
  }
  return wrong;
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
  std::vector<bool> taken(b.shape.cells);
  for (int64_t c = 0; c < a.shape.cells; ++c) {
    const auto at = known.find(place(a, c));
    pairs.push_back({c, at == known.end() ? -1 : at->second});
    if (at != known.end()) taken[at->second] = true;
  }
  for (int64_t c = 0; c < b.shape.cells; ++c)
    if (!taken[c]) pairs.push_back({-1, c});
  return pairs;
}

const JudgedDecision* find_decision(const std::vector<JudgedDecision>& all, const JudgedDecision& like) {
  for (const JudgedDecision& d : all)
    if (d.execution == like.execution && d.router == like.router) return &d;
  return nullptr;
}

bool decided_alike(const std::vector<JudgedDecision>& reference, const std::vector<JudgedDecision>& other) {
  return std::all_of(reference.begin(), reference.end(), [&](const JudgedDecision& r) {
    return std::any_of(other.begin(), other.end(), [&](const JudgedDecision& o) {
      return o.router == r.router && o.execution == r.execution && o.above == r.above && o.place == r.place &&
             o.choice == r.choice;
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
      for (int32_t i = 0; i < fan_out; ++i) found |= branch_of(in[i]) == b;
      if (!found) missing.push_back(b);
    }
    return missing;
  };
  return {missing_from(reference, other), missing_from(other, reference)};
}

double flip_margin(const JudgedDecision& r, int64_t cell, const ChoiceDifference& difference) {
  const double cut = r.margin[cell];
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
      if (const int32_t branch = branch_of(reference[i]);
          branch != kNoBranch && branch_of(other[j]) == branch && is_kept(other[j]) != is_kept(reference[i]))
        return branch;
  return kNoBranch;
}

int64_t capacity_group(const JudgedDecision& d, int64_t cell) {
  if (d.per_parent <= 0 || mixes_batch(d.protocol)) return 0;
  // A parent that was sent to several branches is several parents.
  constexpr int kBranchBits = 12;
  static_assert(kMostBranches <= 1 << kBranchBits);
  int64_t group = d.row(cell) / d.per_parent;
  for (size_t i = 1; i < d.depth(); ++i) group = group << kBranchBits | d.place[cell * d.depth() + i];
  return group;
}

double drop_margin(const JudgedDecision& r, int64_t cell, int32_t branch) {
  if (!mixes_batch(r.protocol)) return kNever;
  const LastPlace last = last_place(r, branch);
  for (int64_t i = cell * r.shape.fan_out; i < (cell + 1) * r.shape.fan_out; ++i)
    if (const int32_t choice = r.choice[i]; branch_of(choice) == branch) return last.margin(choice, confidence(r, i));
  return kNever;
}

std::vector<Misplaced> misplaced(const JudgedDecision& d) {
  std::vector<Misplaced> found;
  if (!mixes_batch(d.protocol)) return found;
  for (int32_t b = 0; b < d.shape.branches; ++b) {
    const LastPlace last = last_place(d, b);
    if (last.most_dropped <= last.least_kept) continue;
    for (int64_t i = 0; i < d.shape.slot_count(); ++i) {
      const int32_t choice = d.choice[i];
      if (branch_of(choice) != b) continue;
      const double margin = last.margin(choice, confidence(d, i));
      if (margin < 0) found.push_back({i / d.shape.fan_out, choice, -margin});
    }
  }
  return found;
}

double margin_size(const JudgedDecision& r, int64_t cell, std::vector<double>& sizes) {
  const MarginOf margin = protocol_row(r.protocol.kind).margin;
  const auto only = [&](double size) {
    sizes.push_back(size);
    return size;
  };
  if (margin == MarginOf::none) return 0;
  if (margin == MarginOf::largest_share) return only(1);
  if (r.scores.empty()) return only(size_of(static_cast<double>(r.margin[cell])));
  const float* scores = r.scores.data() + cell * r.score_columns;
  if (margin == MarginOf::groups) return groups_size(r, cell, sizes);
  if (margin == MarginOf::each_score) return threshold_size(r, scores, sizes);
  if (margin == MarginOf::sum) {
    double sum = 0;
    for (int32_t b = 0; b < r.score_columns; ++b) sum += size_of(static_cast<double>(scores[b]));
    return only(sum);
  }
  const Cut cut = cut_of(
      r, cell, [&](int32_t b) { return usable(scores[b]); }, [](int32_t) { return true; });
  return add_sizes(
      cut, [&](int32_t b) { return size_of(static_cast<double>(scores[b])); }, sizes);
}

ChoiceCount count_choices(const std::vector<JudgedDecision>& reference, const std::vector<JudgedDecision>& other) {
  ChoiceCount count;
  for (const JudgedDecision& r : reference) {
    const auto chosen = [&](int64_t cell) {
      const auto from = r.choice.begin() + cell * r.shape.fan_out;
      return std::count_if(from, from + r.shape.fan_out, [](int32_t c) { return c != kNoBranch; });
    };
    const JudgedDecision* o = find_decision(other, r);
    const bool comparable = o && o->shape.fan_out == r.shape.fan_out && o->above == r.above;
    for (int64_t c = 0; c < r.shape.cells; ++c) {
      count.choices += chosen(c);
      if (!comparable) count.elsewhere += chosen(c);
    }
    if (!comparable) continue;
    for (const CellPair& pair : pair_cells(r, *o)) {
      if (pair.a >= 0 && pair.b < 0) count.elsewhere += chosen(pair.a);
      if (pair.a < 0 || pair.b < 0) continue;
      const ChoiceDifference difference =
          difference_of(r.of_cell(r.choice, pair.a), o->of_cell(o->choice, pair.b), r.shape.fan_out);
      count.elsewhere += std::ssize(difference.lost);
    }
  }
  return count;
}

int64_t wrong_drops(const JudgedDecision& d, const std::vector<int32_t>& choice, const std::vector<float>* weight) {
  return mixes_batch(d.protocol) ? wrong_drops_by_confidence(d, choice, weight) : wrong_drops_in_order(d, choice);
}

}  // namespace stormcell
