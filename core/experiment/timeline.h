// Executed steps of a run over time, for views.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"

namespace stormcell {

struct TimelineStep {
  std::string name, op;
  int32_t router = -1, branch = -1;
  double flops = 0, bytes = 0;  ///< of one execution as planned; 0: not known
};
/// Columns of equal length, ascending by begin. 16 bytes an event, so that ten million fit beside everything else.
struct TimelineLane {
  std::vector<int64_t> begin_ns;    ///< since the first event of the timeline
  std::vector<uint32_t> length_ns;  ///< longer than 4 s: cut there
  std::vector<uint32_t> step;       ///< index into Timeline::steps
  size_t size() const { return begin_ns.size(); }
  int64_t end_ns(size_t i) const { return begin_ns[i] + length_ns[i]; }
};
struct Timeline {
  int64_t run = 0, batches = 0;            ///< batches of the whole run
  int64_t first_batch = 0, end_batch = 0;  ///< those that are here
  std::vector<TimelineStep> steps;
  std::vector<std::string> routers;
  std::vector<TimelineLane> workers;
  struct BatchSpan {
    int64_t batch = 0, begin_ns = 0, end_ns = 0;
  };
  std::vector<BatchSpan> spans;  ///< of the batches that have events
  int64_t events = 0;
  int64_t length_ns = 0;
};
/// Batches [first, end) as far as `most_events` last; end < 0: to the run's end. `run` 0: the newest.
std::shared_ptr<const Timeline> read_timeline(const std::string& file, int64_t run, int64_t first_batch, int64_t end_batch,
                                              int64_t most_events, const Progress& progress = {});

}  // namespace stormcell
