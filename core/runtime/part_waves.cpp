#include "core/runtime/part_waves.h"

#include <algorithm>

namespace stormcell {

PartWaves::PartWaves(WeightStore& weights, const Program& program, const std::vector<PartSite>& sites)
    : weights_(weights), program_(program), sites_(sites), turns_(program) {
  for (const PartSite& site : sites_)
    for (const PartUse& part : site.parts) {
      if (uses_.size() <= static_cast<size_t>(part.handle)) uses_.resize(static_cast<size_t>(part.handle) + 1);
      uses_[part.handle].push_back({site.step, site.decision, part.branch});
    }
}

bool PartWaves::is_passed(const Use& use) const {
  if (use.decision != decision_ || use.step < at_) return false;
  const int32_t told = present_[static_cast<size_t>(use.branch)];
  return told == kAbsentBranch || (use.step == at_ && told == kComputedBranch);
}

int64_t PartWaves::next_use(int32_t handle) const {
  int64_t next = INT64_MAX;  // of another plan
  if (static_cast<size_t>(handle) >= uses_.size()) return next;
  for (const Use& use : uses_[handle]) next = std::min(next, turns_.steps_until(at_, use.step, is_passed(use)));
  return next;
}

/// In the order of their use, until visit() returns false. What stands in another fallback than the step where the device is may never run.
template <class Visit>
void PartWaves::for_each_wanted(Visit visit) const {
  const int32_t fallback = program_.steps[at_].fallback;
  for (const PartSite& site : sites_) {
    if (site.step < at_ || site.decision != decision_ || program_.steps[site.step].fallback != fallback) continue;
    for (const PartUse& part : site.parts)
      if (!is_passed({site.step, site.decision, part.branch}) && !visit(site, part)) return;
  }
}

void PartWaves::read_ahead(const WeightStore::NextUse& use) {
  for_each_wanted([&](const PartSite&, const PartUse& part) { return weights_.fetch(part.handle, use, false); });
}

void PartWaves::begin() {
  began_ = std::chrono::steady_clock::now();
  read_before_ = weights_.counters().bytes_read;
}

void PartWaves::bring(const StatusArea& came, const Progress& progress, std::vector<int32_t>& pinned) {
  at_ = came.status->resume;
  decision_ = came.status->decision;
  present_.assign(came.branches.begin(), came.branches.end());
  const WeightStore::NextUse use = [this](int32_t handle) { return next_use(handle); };
  // The first that the device waits for: none where it only told whom a router chose, or where some have come since it ended the
  // submission. Those must not give way to one behind them.
  int32_t needed = -1;
  bool some = false;
  for_each_wanted([&](const PartSite& site, const PartUse& part) {
    if (site.step != at_) return false;
    if (weights_.ready(part.handle)) {
      some = true;
    } else if (needed < 0) {
      needed = part.handle;
    }
    return !some;
  });
  if (some) needed = -1;
  for_each_wanted([&](const PartSite&, const PartUse& part) {
    weights_.touch(part.handle);
    return true;
  });
  if (needed < 0) return read_ahead(use);
  constexpr auto kLong = std::chrono::seconds(1);
  if (std::chrono::steady_clock::now() - began_ > kLong)
    progress.report("reading weights, MiB", (weights_.counters().bytes_read - read_before_) >> 20, 0);
  const bool began = weights_.fetch(needed, use, true);
  if (began) read_ahead(use);
  weights_.hold(needed, use, progress.cancel);
  pinned.push_back(needed);
  if (!began) read_ahead(use);
}

}  // namespace stormcell
