// Compares the routing decisions of two executions. Cells are found by their identity, choices are compared as sets, a
// flip is judged by its own margin, a drop by the rule of capacity.
#pragma once
#include "core/verification/judged_decision.h"

namespace stormcell {

/// Pairs of cells with the same identity; -1 where one side has no such cell. In the order of `a`, then what only `b`
/// has.
struct CellPair {
  int64_t a = -1, b = -1;
};
std::vector<CellPair> pair_cells(const JudgedDecision& a, const JudgedDecision& b);

/// The same router's, of the same execution; nullptr: it was not made.
const JudgedDecision* find_decision(const std::vector<JudgedDecision>& all, const JudgedDecision& like);

/// Whether every decision of the reference was made over the same cells with the same choices, in rank and drops too.
bool decided_alike(const std::vector<JudgedDecision>& reference, const std::vector<JudgedDecision>& other);

/// The difference between the branches of one cell, drops left aside: those that the reference chose and the other did
/// not, and the reverse.
struct ChoiceDifference {
  std::vector<int32_t> lost, gained;
  bool none() const { return lost.empty() && gained.empty(); }
};
/// Both have `fan_out` choices.
ChoiceDifference difference_of(const int32_t* reference, const int32_t* other, int32_t fan_out);

/// The change of the reference's scores that this difference needs, in the unit of its margins: of the branches that
/// changed places, the pair that is farthest apart. Without scores the margin at the cut. Infinite if no score decides.
double flip_margin(const JudgedDecision& reference, int64_t cell, const ChoiceDifference& difference);

/// The first branch that one side dropped and the other kept, of `fan_out` choices each; kNoBranch: none.
int32_t dropped_otherwise(const int32_t* reference, const int32_t* other, int32_t fan_out);
/// The group of a cell that shares its capacity.
int64_t capacity_group(const JudgedDecision& decision, int64_t cell);
/// How far a cell's confidence in `branch` lies from the last place there, as a probability, where the most confident
/// are served first: from the least confident cell kept for a dropped one, and the reverse. 0 where the confidence is
/// not known. Infinite where places are given in the cells' order: then no score decides.
double drop_margin(const JudgedDecision& reference, int64_t cell, int32_t branch);

/// A choice that was kept though a more confident cell was dropped from the same branch, or dropped though a less
/// confident one was kept. `distance`: the most by which it was.
struct Misplaced {
  int64_t cell = 0;
  int32_t choice = 0;
  double distance = 0;
};
/// Judges routers that serve the most confident first: by the decision's own scores, among its own cells, which may be
/// some of a batch's.
std::vector<Misplaced> misplaced(const JudgedDecision& decision);

/// The size that a cell's margin error is measured by, in the unit of the margins. It is the size of the scores whose
/// distance the margin is, so that a score that can never win or never lose (a masked branch) measures nothing. 1 if
/// margins are probabilities; 1 + |correction| of the two branches at the cut for corrected sigmoids; the sum of all
/// sizes if the sum decides; the margin itself if the scores are not known; 0 if no score decides. Adds to `sizes`
/// those that say how large scores at the cut usually are.
double margin_size(const JudgedDecision& reference, int64_t cell, std::vector<double>& sizes);

/// Number of branches that the reference's cells chose, and of those that the same cells did not choose in the other
/// execution. Drops are left aside.
struct ChoiceCount {
  int64_t choices = 0, elsewhere = 0;
};
ChoiceCount count_choices(const std::vector<JudgedDecision>& reference, const std::vector<JudgedDecision>& other);

/// Choices that capacity should have dropped and did not, or the reverse, by the protocol's rule from the choices
/// alone. `weight` [cells, fan_out] ranks them where the most confident are served first; without it, or where weights
/// are renormalised, only how many were dropped can be judged there.
int64_t wrong_drops(const JudgedDecision& decision, const std::vector<int32_t>& choice,
                    const std::vector<float>* weight);

}  // namespace stormcell
