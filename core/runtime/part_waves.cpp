#include "core/runtime/part_waves.h"

#include <algorithm>
#include <utility>

namespace stormcell {

PartWaves::PartWaves(WeightStore& weights, const Program& program, const ExecutableLayout& layout)
    : weights_(weights),
      program_(program),
      sites_(layout.sites),
      leaves_(layout.segments.leaves),
      turns_(program),
      told_(program.operands.size()) {
  for (const PartSite& site : sites_)
    for (const PartUse& part : site.parts) {
      if (!uses_.holds(part.handle)) uses_.resize(static_cast<size_t>(part.handle) + 1);
      uses_[part.handle].push_back({site.step, site.decision, part.branch});
    }
}

bool PartWaves::is_passed(const Use& use) const {
  const Told& told = told_[use.decision];
  if (!told.at_this_turn || use.step < at_) return false;
  const int32_t branch = told.branches[use.branch];
  return branch == kAbsentBranch || (use.decision == decision_ && use.step == at_ && branch == kComputedBranch);
}

int64_t PartWaves::next_use(WeightHandle handle) const {
  int64_t next = INT64_MAX;  // a part of another plan has no use here
  if (!uses_.holds(handle)) return next;
  const auto steps_of_program = std::ssize(program_.steps);
  for (const Use& use : uses_[handle]) {
    const Told& told = told_[use.decision];
    const bool passed = is_passed(use), chosen = told.at_this_turn && use.step >= at_ && !passed;
    // A router does not send the same cells each time: a branch that has not been chosen for long is unlikely to be
    // chosen next.
    const int64_t later = chosen || told.left_out.empty() ? 0 : steps_of_program * told.left_out[use.branch];
    next = std::min(next, turns_.steps_until(at_, use.step, passed) + later);
  }
  return next;
}

void PartWaves::forget_turn() {
  for (Told& told : told_) told.at_this_turn = false;
}

void PartWaves::hear(const StatusArea& came) {
  at_ = leaves_[came.status->leaf].begin;
  decision_ = came.status->decision;
  if (!std::equal(came.turns.begin(), came.turns.end(), turns_told_.begin(), turns_told_.end())) forget_turn();
  turns_told_.assign(came.turns.begin(), came.turns.end());
  Told& told = told_[decision_];
  const bool anew = !std::exchange(told.at_this_turn, true);
  told.branches.assign(came.branches.begin(), came.branches.end());
  told.left_out.resize(told.branches.size());
  if (!anew) return;
  for (size_t b = 0; b < told.branches.size(); ++b)
    told.left_out[b] = told.branches[b] == kAbsentBranch ? told.left_out[b] + 1 : 0;
}

/// Visits parts in the order of their use, until visit() returns false. A part of another fallback than the one where
/// the device is may never be needed.
template <class Visit>
void PartWaves::for_each_wanted(Visit visit) const {
  const GuardId fallback = program_.steps[at_].fallback;
  for (const PartSite& site : sites_) {
    if (site.step < at_ || site.decision != decision_ || program_.steps[site.step].fallback != fallback) continue;
    for (const PartUse& part : site.parts)
      if (!is_passed({site.step, site.decision, part.branch}) && !visit(site, part)) return;
  }
}

WeightHandle PartWaves::first_missing() const {
  WeightHandle missing;
  bool some_came = false;
  for_each_wanted([&](const PartSite& site, const PartUse& part) {
    if (site.step != at_) return false;
    if (weights_.is_loaded(part.handle)) {
      some_came = true;
      return false;
    }
    if (missing == kNone) missing = part.handle;
    return true;
  });
  return some_came ? kNone : missing;
}

void PartWaves::read_ahead(const WeightStore::NextUse& use) {
  int64_t left = ahead_;
  for_each_wanted([&](const PartSite&, const PartUse& part) {
    return weights_.is_loaded(part.handle) || (weights_.fetch_ahead(part.handle, use) && --left > 0);
  });
}

void PartWaves::begin() {
  began_ = std::chrono::steady_clock::now();
  read_before_ = weights_.counters().bytes_filled;
  ahead_ = most_parts_ahead(weights_.slot_count());
  forget_turn();
}

void PartWaves::report_if_long(const Progress& progress) const {
  constexpr auto kLong = std::chrono::seconds(1);
  if (std::chrono::steady_clock::now() - began_ > kLong)
    progress.report("reading weights, MiB", (weights_.counters().bytes_filled - read_before_) >> 20, 0);
}

void PartWaves::bring(const StatusArea& came, const Progress& progress, std::vector<WeightHandle>& in_use) {
  hear(came);
  const WeightStore::NextUse use = [this](WeightHandle handle) { return next_use(handle); };
  for_each_wanted([&](const PartSite&, const PartUse& part) {
    weights_.touch(part.handle);
    return true;
  });
  // If every slot is busy, some hold parts behind this one: they were read ahead for the body of a guard that then
  // missed, and its fallback begins with another branch. The first part that comes is of this step, too. If it gave way
  // uncomputed, it would be read again.
  WeightHandle missing = first_missing();
  while (missing != kNone) {
    const bool has_slot = weights_.fetch_now(missing, use, progress.cancel);
    if (has_slot) break;
    report_if_long(progress);
    missing = first_missing();
  }
  // Readers go on with what comes behind while this one is waited for: now that it has a slot, they do not take it.
  read_ahead(use);
  if (missing == kNone) return;
  report_if_long(progress);
  in_use.reserve(in_use.size() + 1);  // a part in use must be reported
  // It has a slot, unless its reading failed or was dropped meanwhile: then hold() waits for another.
  weights_.hold(missing, use, progress.cancel);
  in_use.push_back(missing);
}

}  // namespace stormcell
