#include "core/readings/timeline.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/blocking.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

void sort_by_begin(TimelineLane& lane) {
  if (std::is_sorted(lane.begin_ns.begin(), lane.begin_ns.end())) return;
  std::vector<size_t> order(lane.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lane.begin_ns[a] < lane.begin_ns[b]; });
  TimelineLane sorted;
  for (const size_t i : order) sorted.add(lane.begin_ns[i], lane.end_ns(i), lane.step[i]);
  lane = std::move(sorted);
}

/// Growing by doubling would hold twice the memory at its largest: batches are alike, so the first one tells how much
/// comes.
void reserve_for(TimelineLane& lane, size_t in_first_batch, int64_t batches, int64_t most_events) {
  const auto wanted = std::min(static_cast<double>(in_first_batch) * batches * 1.05, static_cast<double>(most_events));
  lane.begin_ns.reserve(wanted);
  lane.length_ns.reserve(wanted);
  lane.step.reserve(wanted);
}

}  // namespace

std::shared_ptr<const Timeline> read_timeline(const std::string& file, int64_t run, BatchRange range,
                                              int64_t most_events, const Progress& progress) {
  may_block("read_timeline");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto timeline = std::make_shared<Timeline>();
  timeline->run = summary.id;
  timeline->batches = summary.batches;
  for (const StepInfo& s : layout.steps)
    timeline->steps.push_back({s.name, s.op, s.router, s.branch, s.flops, s.bytes});
  for (const RouterInfo& r : layout.routers) timeline->routers.push_back(r.name);
  const auto [first_batch, end_batch] = opened.within(range);
  timeline->first_batch = first_batch;
  timeline->end_batch = first_batch;
  uint64_t origin = 0;
  for (int64_t b = first_batch; b < end_batch && timeline->events < most_events; ++b) {
    progress.report("reading events", b - first_batch, end_batch - first_batch);
    timeline->end_batch = b + 1;
    const std::vector<StepEvent> events = reader.events(summary.id, b);
    if (events.empty()) continue;
    uint64_t begin = std::numeric_limits<uint64_t>::max(), end = 0;
    for (const StepEvent& e : events) begin = std::min(begin, e.begin_ns), end = std::max(end, e.end_ns);
    const bool first = timeline->spans.size() == 0;
    if (first) origin = begin;
    for (const StepEvent& e : events) {
      if (e.step >= timeline->steps.size()) continue;  // the session is damaged
      if (e.worker >= timeline->workers.size()) timeline->workers.resize(size_t{e.worker} + 1);
      timeline->workers[e.worker].add(static_cast<int64_t>(e.begin_ns - origin),
                                      static_cast<int64_t>(std::max(e.begin_ns, e.end_ns) - origin), e.step);
    }
    if (first)
      for (TimelineLane& lane : timeline->workers) reserve_for(lane, lane.size(), end_batch - first_batch, most_events);
    timeline->spans.add(static_cast<int64_t>(begin - origin), static_cast<int64_t>(end - origin),
                        static_cast<uint32_t>(b));
    timeline->events += std::ssize(events);
    timeline->length_ns = std::max(timeline->length_ns, static_cast<int64_t>(end - origin));
  }
  for (TimelineLane& lane : timeline->workers) sort_by_begin(lane);
  return timeline;
}

}  // namespace stormcell
