#include "core/verification/judged_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/base/counted.h"
#include "core/bench/batch_inputs.h"
#include "core/verification/observe.h"
#include "core/verification/references.h"

namespace stormcell {

Observed JudgedPlan::run(const Batch& batch, const Observed* replay) {
  const CellReach& reach = judge_.reach(batch.picture);
  // If the device does not keep bits, choices beside the baseline are judged as beside the oracle: a run that serves as
  // the reference then needs scores and reach.
  Observed came = observe(work_.state(), runs_, batch, replay, work_.state().keeps_bits() ? nullptr : &reach);
  came.real = real_cells(*runs_.graph, batch);
  came.items = batch.size();
  came.by_item = reach.by_item;
  if (work_.forced()) take_forced_as_chosen(*work_.forced(), batch.index, came.decisions);
  return came;
}

std::vector<JudgedDecision> JudgedPlan::without_padding(const Batch& batch,
                                                        std::vector<JudgedDecision> decisions) const {
  runs_.use(batch.picture);
  const std::map<std::string, std::vector<int32_t>> computed =
      computed_cells(*runs_.graph, *work_.judged_graph(batch.picture), batch);
  if (computed.empty()) return decisions;
  return only_computed(decisions, computed);
}

std::vector<JudgedDecision> JudgedPlan::made_by_plan(const Batch& batch, std::vector<JudgedDecision> decisions) const {
  std::vector<JudgedDecision> made = without_padding(batch, std::move(decisions));
  std::erase_if(made, [&](const JudgedDecision& d) { return runs_.promises.undecided.contains(d.router); });
  return made;
}

bool JudgedPlan::goes_elsewhere(const Batch& batch, const std::vector<JudgedDecision>& decisions) {
  if (runs_.promises.undecided.empty()) return false;
  const bool fresh = counted_.insert(batch.index).second;
  bool any = false;
  for (const JudgedDecision& d : without_padding(batch, decisions)) {
    const auto taken = runs_.promises.undecided.find(d.router);
    if (taken == runs_.promises.undecided.end()) continue;
    Elsewhere& count = elsewhere_[d.router];
    if (fresh) count.cells += d.shape.cells;
    for (auto cell = d.choice.begin(); cell != d.choice.end(); cell += d.shape.fan_out) {
      std::set<int32_t> branches;
      std::copy_if(cell, cell + d.shape.fan_out, std::inserter(branches, branches.end()), is_kept);
      if (branches == taken->second) continue;
      any = true;
      if (fresh) ++count.elsewhere;
    }
  }
  return any;
}

void JudgedPlan::add_elsewhere(Verification& v) const {
  for (const auto& [router, count] : elsewhere_) {
    if (count.elsewhere == 0) continue;
    v.reasons.push_back("router " + router + ", which the plan does not decide, sends " + with_commas(count.elsewhere) +
                        " of " + counted(count.cells, "cell") + " elsewhere");
    v.what_to_do = "leave approximate=on out: on these data that decision matters";
    v.passed = false;
  }
}

void JudgedPlan::compare_part(const Batch&, const Observed&, const Observed&, const std::vector<JudgedDecision>&) {
  throw std::logic_error("a plan that cannot be judged by a part of a batch was given one");
}

void add_found(const std::string& where, const Verification& found, Verification& v) {
  for (const std::string& reason : found.reasons) v.reasons.push_back(where + ": " + reason);
  if (v.what_to_do.empty()) v.what_to_do = found.what_to_do;
  for (const OutputDifference& of : found.outputs)
    for (OutputDifference& output : v.outputs) {
      if (output.name != of.name) continue;
      output.max_abs_diff = std::max(output.max_abs_diff, of.max_abs_diff);
      output.max_rel_diff = std::max(output.max_rel_diff, of.max_rel_diff);
      output.free_max_rel_diff = std::max(output.free_max_rel_diff, of.free_max_rel_diff);
    }
  v.max_abs_diff = std::max(v.max_abs_diff, found.max_abs_diff);
  v.max_rel_diff = std::max(v.max_rel_diff, found.max_rel_diff);
  v.free_max_rel_diff = std::max(v.free_max_rel_diff, found.free_max_rel_diff);
  v.nonfinite += found.nonfinite;
  v.flips += found.flips, v.explained_flips += found.explained_flips, v.consequences += found.consequences;
  v.listed.insert(v.listed.end(), found.listed.begin(), found.listed.end());
}

}  // namespace stormcell
