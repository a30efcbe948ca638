#include "core/verification/make_flip.h"

#include <algorithm>
#include <string>

namespace stormcell {
namespace {

std::string path_of(const JudgedDecision& d, int64_t cell) {
  std::string path;
  for (size_t i = 0; i < d.above.size(); ++i)
    path += (i ? ", " : "") + d.above[i] + "=" + std::to_string(d.place[cell * d.depth() + 1 + i]);
  return path;
}

/// The flip without its branches.
Flip flip_of(int64_t batch, const JudgedDecision& d, int64_t cell) {
  Flip flip;
  flip.router = d.router;
  flip.batch = batch;
  flip.execution = d.execution, flip.turn = d.turn;
  flip.cell = d.row(cell);
  if (d.per_item > 0) flip.item = flip.cell / d.per_item, flip.position = flip.cell % d.per_item;
  flip.above = path_of(d, cell);
  flip.reference = flip.ours = -1;
  return flip;
}

}  // namespace

Flip choice_flip(int64_t batch, const JudgedDecision& reference, int64_t cell, const ChoiceDifference& difference) {
  Flip flip = flip_of(batch, reference, cell);
  if (!difference.lost.empty()) flip.reference = difference.lost[0];
  if (!difference.gained.empty()) flip.ours = difference.gained[0];
  flip.margin = flip_margin(reference, cell, difference);
  return flip;
}

Flip drop_flip(int64_t batch, const JudgedDecision& reference, int64_t cell, int32_t branch) {
  Flip flip = flip_of(batch, reference, cell);
  const int32_t* choices = reference.of_cell(reference.choice, cell);
  (std::count(choices, choices + reference.shape.fan_out, branch) > 0 ? flip.reference : flip.ours) = branch;
  flip.margin = drop_margin(reference, cell, branch);
  return flip;
}

Flip drop_flip(int64_t batch, const JudgedDecision& reference, const Misplaced& by_plan) {
  Flip flip = flip_of(batch, reference, by_plan.cell);
  (is_kept(by_plan.choice) ? flip.ours : flip.reference) = branch_of(by_plan.choice);
  flip.margin = by_plan.distance;
  return flip;
}

Flip one_sided_flip(int64_t batch, const JudgedDecision& d, int64_t cell, int32_t Flip::*side) {
  Flip flip = flip_of(batch, d, cell);
  if (const int32_t branch = branch_of(*d.of_cell(d.choice, cell)); branch != kNoBranch) flip.*side = branch;
  return flip;
}

}  // namespace stormcell
