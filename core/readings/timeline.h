// Executed steps of a run over time, for views.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/readings/session_view.h"

namespace stormcell {

struct TimelineStep {
  std::string name, op;
  int32_t router = -1, branch = -1;
  double flops = 0, bytes = 0;  ///< work of one execution as planned; 0: not known
};
/// Columns of equal length, ascending by begin. 16 bytes an event, so that ten million fit beside everything else.
struct TimelineLane {
  std::vector<int64_t> begin_ns;  ///< since the first event of the timeline
  std::vector<float> length_ns;   ///< exact up to 16 ms, then to seven digits
  std::vector<uint32_t> step;     ///< index into Timeline::steps
  size_t size() const { return begin_ns.size(); }
  int64_t end_ns(size_t i) const { return begin_ns[i] + static_cast<int64_t>(length_ns[i]); }
  void add(int64_t begin, int64_t end, uint32_t of_step) {
    begin_ns.push_back(begin), length_ns.push_back(static_cast<float>(end - begin)), step.push_back(of_step);
  }
};
struct Timeline {
  int64_t run = 0, batches = 0;            ///< batches of the whole run
  int64_t first_batch = 0, end_batch = 0;  ///< those that are here
  std::vector<TimelineStep> steps;
  std::vector<std::string> routers;
  std::vector<TimelineLane> workers;
  TimelineLane spans;  ///< batches that have events, from their first to their last; step: the batch's number
  int64_t events = 0;
  int64_t length_ns = 0;
};
/// The batches as far as `most_events` last. `run` 0: the newest.
std::shared_ptr<const Timeline> read_timeline(const std::string& file, int64_t run, BatchRange range,
                                              int64_t most_events, const Progress& progress = {});

}  // namespace stormcell
