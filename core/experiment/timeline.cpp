#include "core/experiment/timeline.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/blocking.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

void sort_by_begin(TimelineLane& lane) {
  if (std::is_sorted(lane.begin_ns.begin(), lane.begin_ns.end())) return;
  std::vector<size_t> order(lane.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lane.begin_ns[a] < lane.begin_ns[b]; });
  TimelineLane sorted;
  for (const size_t i : order) {
    sorted.begin_ns.push_back(lane.begin_ns[i]);
    sorted.length_ns.push_back(lane.length_ns[i]);
    sorted.step.push_back(lane.step[i]);
  }
  lane = std::move(sorted);
}

}  // namespace

std::shared_ptr<const Timeline> read_timeline(const std::string& file, int64_t run, int64_t first_batch, int64_t end_batch,
                                              int64_t most_events, const Progress& progress) {
  may_block("read_timeline");
  const SessionReader reader(file);
  const RunSummary summary = run > 0 ? reader.run(run) : reader.find_run("");
  auto timeline = std::make_shared<Timeline>();
  timeline->run = summary.id;
  timeline->batches = summary.batches;
  const RunLayout layout = reader.layout(summary.id);
  for (const StepInfo& s : layout.steps) timeline->steps.push_back({s.name, s.op, s.router, s.branch, s.flops, s.bytes});
  for (const RouterInfo& r : layout.routers) timeline->routers.push_back(r.name);
  first_batch = std::clamp<int64_t>(first_batch, 0, summary.batches);
  if (end_batch < 0 || end_batch > summary.batches) end_batch = summary.batches;
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
    if (timeline->spans.empty()) origin = begin;
    for (const StepEvent& e : events) {
      if (e.step >= timeline->steps.size()) continue;  // of a damaged session
      if (e.worker >= timeline->workers.size()) timeline->workers.resize(size_t{e.worker} + 1);
      TimelineLane& lane = timeline->workers[e.worker];
      lane.begin_ns.push_back(static_cast<int64_t>(e.begin_ns - origin));
      lane.length_ns.push_back(static_cast<uint32_t>(std::min<uint64_t>(e.end_ns - e.begin_ns, std::numeric_limits<uint32_t>::max())));
      lane.step.push_back(e.step);
    }
    timeline->spans.push_back({b, static_cast<int64_t>(begin - origin), static_cast<int64_t>(end - origin)});
    timeline->events += static_cast<int64_t>(events.size());
    timeline->length_ns = std::max(timeline->length_ns, static_cast<int64_t>(end - origin));
  }
  for (TimelineLane& lane : timeline->workers) sort_by_begin(lane);
  return timeline;
}

}  // namespace stormcell
