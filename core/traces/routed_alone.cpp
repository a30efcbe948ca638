#include "core/traces/routed_alone.h"

#include <algorithm>
#include <numeric>

#include "core/base/counted.h"
#include "core/base/error.h"

namespace stormcell {

void RoutedAlone::wrong(const Router& router, const std::string& what) const {
  bad_input(source_.path(), router.name + " " + what,
            "--shared-experts 0 where the server did not fuse them; else record with --disable-shared-experts-fusion");
}

void RoutedAlone::begin(const TraceHeader& header) {
  TraceHeader routed = header;
  const int32_t shared = source_.model.shared;
  routers_.clear();
  for (size_t r = 0; r < routed.routers.size(); ++r) {
    TraceRouter& of = routed.routers[r];
    const int32_t experts = source_.model.branches > 0 ? source_.model.branches : of.branches - shared;
    Router& router =
        routers_.emplace_back(Router{of.name, experts, of.fan_out, shared > 0 && of.branches == experts + shared});
    if (!router.fused) continue;
    if (experts < 1) wrong(router, "has " + counted(of.branches, "expert") + ", all of them shared");
    of.branches = experts;
    if (!header.counts && of.fan_out <= shared)
      wrong(router, "has " + counted(of.fan_out, "choice") + " of a token, all of them shared");
    if (!header.counts) of.fan_out -= shared;
    if (r >= routed.recorded_slots.layers.size()) continue;
    SlotLoads& slots = routed.recorded_slots.layers[r];
    for (size_t s = 0; s < slots.expert.size(); ++s)
      if (slots.expert[s] >= experts) slots.expert[s] = -1, slots.load[s] = 0;
  }
  sink_.begin(routed);
}

void RoutedAlone::strip(const DecisionRecord& d, const Router& router, Routed& out) {
  const auto width = static_cast<size_t>(router.fan_out), kept = width - static_cast<size_t>(source_.model.shared);
  const size_t cells = d.choice.size() / width;
  out.choice.assign(cells * kept, kNoBranch);
  out.weight.assign(d.weight.empty() ? 0 : cells * kept, 0);
  out.residency.assign(d.residency.empty() ? 0 : cells * kept, 0);
  out.bytes_read.assign(d.bytes_read.empty() ? 0 : cells * kept, 0);
  for (size_t i = 0; i < cells; ++i) {
    size_t taken = 0, shared = 0;
    for (size_t j = i * width; j < (i + 1) * width; ++j) {
      const int32_t choice = d.choice[j];
      if (choice == kNoBranch) continue;
      if (branch_of(choice) >= router.routed) {
        ++shared;
        continue;
      }
      if (taken == kept)
        wrong(router, "has a token of " + counted(static_cast<int64_t>(taken) + 1, "routed choice") + ", " +
                          counted(static_cast<int64_t>(kept), "choice") + " beside the shared ones");
      const size_t to = i * kept + taken++;
      out.choice[to] = choice;
      if (!d.weight.empty()) out.weight[to] = d.weight[j];
      if (!d.residency.empty()) out.residency[to] = d.residency[j];
      if (!d.bytes_read.empty()) out.bytes_read[to] = d.bytes_read[j];
    }
    shared_ += static_cast<int64_t>(shared);
    masked_ += static_cast<int64_t>(width - kept) - static_cast<int64_t>(shared);
  }
}

void RoutedAlone::batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) {
  decisions_.assign(decisions.begin(), decisions.end());
  routed_.resize(decisions.size());
  for (size_t i = 0; i < decisions.size(); ++i) {
    DecisionRecord& d = decisions_[i];
    const Router& router = routers_[d.router];
    if (!router.fused) continue;
    strip(decisions[i], router, routed_[i]);
    d.choice = routed_[i].choice, d.weight = routed_[i].weight, d.residency = routed_[i].residency,
    d.bytes_read = routed_[i].bytes_read;
  }
  sink_.batch(cells, decisions_);
}

void RoutedAlone::loads(int64_t step, int32_t router, std::span<const int64_t> counts) {
  const Router& of = routers_[router];
  if (of.fused) {
    const auto routed = counts.first(of.routed), shared = counts.subspan(routed.size());
    // Every token goes to a shared expert, so no expert can have more.
    if (std::accumulate(shared.begin(), shared.end(), int64_t{0}) < *std::max_element(routed.begin(), routed.end()))
      wrong(of, "chose a routed expert more often than the shared ones after them");
    shared_ += std::ssize(shared);
    counts = routed;
  }
  sink_.loads(step, router, counts);
}

TraceCounts RoutedAlone::routed(TraceCounts counts) const {
  counts.rows_read -= shared_;
  counts.rows_masked -= masked_;
  counts.rows_shared += shared_;
  return counts;
}

}  // namespace stormcell
