// The timeline's lanes, level of detail, and statistics of a range. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/readings/guards_view.h"
#include "core/readings/session_view.h"
#include "core/readings/timeline.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// Events of one row, ascending by begin: a whole lane, or some events of several lanes by their number (counted
/// through all lanes), 4 bytes each. It refers to lanes that the caller keeps.
class TimelineEvents {
 public:
  explicit TimelineEvents(const TimelineLane& lane) : lanes_(&lane), ends_{lane.size()}, whole_(true) {}
  TimelineEvents(const std::vector<TimelineLane>& lanes, std::vector<uint32_t> chosen);
  size_t size() const { return whole_ ? lanes_->size() : chosen_.size(); }
  int64_t begin_ns(size_t i) const { return place(i).lane.begin_ns[place(i).at]; }
  int64_t end_ns(size_t i) const { return place(i).lane.end_ns(place(i).at); }
  float length_ns(size_t i) const { return place(i).lane.length_ns[place(i).at]; }
  uint32_t step(size_t i) const { return place(i).lane.step[place(i).at]; }
  /// The first event from `from` on that begins at `ns` or later.
  size_t first_at(int64_t ns, size_t from = 0) const;

 private:
  struct Place {
    const TimelineLane& lane;
    size_t at;
  };
  Place place(size_t i) const {
    if (whole_) return {*lanes_, i};
    size_t at = chosen_[i], lane = 0;
    while (at >= ends_[lane]) ++lane;
    return {lanes_[lane], lane > 0 ? at - ends_[lane - 1] : at};
  }
  const TimelineLane* lanes_;
  std::vector<size_t> ends_;  ///< of each lane, one past its last number
  std::vector<uint32_t> chosen_;
  bool whole_ = false;
};

/// Content of one row.
struct TimelineRow {
  enum class Kind { batches, thread, op, router } kind = Kind::thread;
  QString name;
  TimelineEvents events;        ///< of `batches`: step is the batch's number
  bool tells_branches = false;  ///< of `router`: some of its steps belong to one branch
};
/// Batches, threads, operators by total time, and routers with their decisions and branches. The rows look into
/// `timeline`.
std::vector<TimelineRow> make_rows(const Timeline& timeline);
/// Only batches and workers.
std::vector<TimelineRow> make_run_rows(const Timeline& timeline);

/// The recording whose plan is the baseline of a run: the newest one before it without passes, of the same data in the
/// same batches and format, on the same device. Null: the session has none, or the run is such a recording itself.
const RunLine* baseline_of(const SessionOverview& session, int64_t run);

/// The guards of one batch, over the time of the batch.
struct GuardBar {
  int64_t begin_ns = 0, end_ns = 0;
  GuardsOfBatch of;
};
/// A bar for each batch of the timeline, ascending by begin.
std::vector<GuardBar> guard_bars(const Timeline& timeline, const GuardsOfRun& guards);
/// "16 held, 1 missed"; with words on the fallback after a miss.
QString guards_text(const GuardsOfBatch& guards);

/// The visible part of time.
struct TimeWindow {
  double begin_ns = 0, end_ns = 1;
  double x(double ns, double width) const { return (ns - begin_ns) / (end_ns - begin_ns) * width; }
  double ns(double x, double width) const { return begin_ns + x / width * (end_ns - begin_ns); }
  /// At least 100 ns long, and within [0, length].
  TimeWindow zoomed(double at_ns, double factor, double length_ns) const;
  TimeWindow moved(double by_ns, double length_ns) const;
};

/// One or several events as one bar.
struct TimelineBar {
  float from, to;       ///< pixels
  size_t first, count;  ///< events of the row
};
/// An event wider than `least` pixels has a bar of its own, narrower ones merge with their neighbours. The pixels limit
/// the number of bars; the work is pixels times log of the events.
std::vector<TimelineBar> make_bars(const TimelineEvents& events, const TimeWindow& window, double width,
                                   double least = 2);
/// The event at a time, the nearest one if several pixels are one bar.
std::optional<size_t> event_at(const TimelineEvents& events, double ns);

struct OpStatistics {
  QString op;
  qlonglong count = 0;
  double total_ns = 0, mean_ns = 0, p95_ns = 0, longest_ns = 0;
  double share = 0;  ///< of the time of all steps in the range
};
/// Statistics of the steps that begin in [begin, end), longest total first.
std::vector<OpStatistics> statistics(const Timeline& timeline, double begin_ns, double end_ns);
/// Guards of the batches that begin in [begin, end), added up.
GuardsOfBatch guards_between(const std::vector<GuardBar>& bars, double begin_ns, double end_ns);
/// `guards`: of the same range; without tests they have no rows.
Table make_table(const std::vector<OpStatistics>& statistics, const GuardsOfBatch& guards = {});
/// "1.25 ms"
QString duration(double ns);

/// The colour of an operator, for Theme::category(): the same in every session.
int category_of(const std::string& op);

}  // namespace stormcell::views
