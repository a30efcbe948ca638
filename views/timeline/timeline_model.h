// The timeline's lanes, level of detail, and statistics of a range. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/timeline.h"
#include "views/kit/table.h"

namespace stormcell::views {

/// What is drawn in one row.
struct TimelineRow {
  enum class Kind { batches, worker, op, router } kind = Kind::worker;
  QString name;
  TimelineLane lane;  ///< of `batches`: step is the batch's number
};
/// Batches, workers, operators by total time, and routers with their decisions and branches.
std::vector<TimelineRow> make_rows(const Timeline& timeline);

/// Which part of time is on show.
struct TimeWindow {
  double begin_ns = 0, end_ns = 1;
  double x(double ns, double width) const { return (ns - begin_ns) / (end_ns - begin_ns) * width; }
  double ns(double x, double width) const { return begin_ns + x / width * (end_ns - begin_ns); }
  /// Never shorter than 100 ns, never beyond [0, length].
  TimeWindow zoomed(double at_ns, double factor, double length_ns) const;
  TimeWindow moved(double by_ns, double length_ns) const;
};

/// One or several events as one bar.
struct TimelineBar {
  float from, to;       ///< pixels
  size_t first, count;  ///< events of the lane
};
/// What is wider than `least` pixels is a bar of its own, what is narrower merges with its neighbours: the number of bars is bounded by the
/// pixels, the work by pixels times log of the events.
std::vector<TimelineBar> make_bars(const TimelineLane& lane, const TimeWindow& window, double width, double least = 2);
/// The event at a time, nearest if several pixels are one bar.
std::optional<size_t> event_at(const TimelineLane& lane, double ns);

struct OpStatistics {
  QString op;
  qlonglong count = 0;
  double total_ns = 0, mean_ns = 0, p95_ns = 0, longest_ns = 0;
  double share = 0;  ///< of the time of all steps in the range
};
/// Of the steps that begin in [begin, end), longest total first.
std::vector<OpStatistics> statistics(const Timeline& timeline, double begin_ns, double end_ns);
Table make_table(const std::vector<OpStatistics>& statistics);
/// "1.25 ms"
QString duration(double ns);

}  // namespace stormcell::views
