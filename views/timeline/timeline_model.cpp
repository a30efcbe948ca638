#include "views/timeline/timeline_model.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <map>

namespace stormcell::views {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Timeline", text); }

void add(TimelineLane& to, const TimelineLane& from, size_t i) {
  to.begin_ns.push_back(from.begin_ns[i]);
  to.length_ns.push_back(from.length_ns[i]);
  to.step.push_back(from.step[i]);
}

}  // namespace

std::vector<TimelineRow> make_rows(const Timeline& t) {
  std::vector<TimelineRow> rows;
  TimelineRow batches{TimelineRow::Kind::batches, tr("batches"), {}};
  for (const Timeline::BatchSpan& span : t.spans) {
    batches.lane.begin_ns.push_back(span.begin_ns);
    batches.lane.length_ns.push_back(static_cast<uint32_t>(std::min<int64_t>(span.end_ns - span.begin_ns, UINT32_MAX)));
    batches.lane.step.push_back(static_cast<uint32_t>(span.batch));
  }
  rows.push_back(std::move(batches));
  std::map<std::string, std::pair<double, TimelineLane>> ops;
  std::vector<TimelineLane> routers(t.routers.size());
  for (size_t w = 0; w < t.workers.size(); ++w) {
    rows.push_back({TimelineRow::Kind::worker, tr("worker %1").arg(w), t.workers[w]});
    for (size_t i = 0; i < t.workers[w].size(); ++i) {
      const TimelineStep& step = t.steps[t.workers[w].step[i]];
      auto& [total, lane] = ops[step.op];
      total += t.workers[w].length_ns[i];
      add(lane, t.workers[w], i);
      if (step.router >= 0 && static_cast<size_t>(step.router) < routers.size())
        add(routers[static_cast<size_t>(step.router)], t.workers[w], i);
    }
  }
  std::vector<TimelineRow> by_op;
  std::vector<double> totals;
  for (auto& [op, of] : ops)
    by_op.push_back({TimelineRow::Kind::op, QString::fromStdString(op), std::move(of.second)}), totals.push_back(of.first);
  std::vector<size_t> order(by_op.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return totals[a] > totals[b]; });
  for (const size_t i : order) rows.push_back(std::move(by_op[i]));
  for (size_t r = 0; r < routers.size(); ++r)
    if (routers[r].size() > 0) rows.push_back({TimelineRow::Kind::router, QString::fromStdString(t.routers[r]), std::move(routers[r])});
  return rows;
}

TimeWindow TimeWindow::zoomed(double at_ns, double factor, double length_ns) const {
  const double length = std::clamp((end_ns - begin_ns) / factor, 100.0, std::max(100.0, length_ns));
  const double share = (at_ns - begin_ns) / (end_ns - begin_ns), begin = at_ns - share * length;
  return TimeWindow{begin, begin + length}.moved(0, length_ns);
}

TimeWindow TimeWindow::moved(double by_ns, double length_ns) const {
  const double length = end_ns - begin_ns, begin = std::clamp(begin_ns + by_ns, 0.0, std::max(0.0, length_ns - length));
  return {begin, begin + length};
}

std::vector<TimelineBar> make_bars(const TimelineLane& lane, const TimeWindow& window, double width, double least) {
  std::vector<TimelineBar> bars;
  const double ns_per_pixel = (window.end_ns - window.begin_ns) / std::max(1.0, width);
  // Events of a lane do not overlap, or hardly: the first one on show is at most one before the first that begins on show.
  size_t i = static_cast<size_t>(std::lower_bound(lane.begin_ns.begin(), lane.begin_ns.end(), static_cast<int64_t>(window.begin_ns)) -
                                 lane.begin_ns.begin());
  if (i > 0 && static_cast<double>(lane.end_ns(i - 1)) > window.begin_ns) --i;
  while (i < lane.size() && static_cast<double>(lane.begin_ns[i]) < window.end_ns) {
    const auto begin = static_cast<double>(lane.begin_ns[i]);
    size_t next = i + 1;
    if (static_cast<double>(lane.length_ns[i]) < least * ns_per_pixel) {
      // All that begins within the bar's least width goes into it.
      const auto until = static_cast<int64_t>(begin + least * ns_per_pixel);
      next = static_cast<size_t>(std::lower_bound(lane.begin_ns.begin() + static_cast<std::ptrdiff_t>(next), lane.begin_ns.end(), until) -
                                 lane.begin_ns.begin());
      // A long event that begins there as well stays a bar of its own; only the last can be one, since they do not overlap.
      if (next - i > 1 && static_cast<double>(lane.length_ns[next - 1]) >= least * ns_per_pixel) --next;
    }
    const double from = window.x(begin, width);
    const double to =
        std::max(from + (next - i > 1 ? least : std::min(least, 1.0)), window.x(static_cast<double>(lane.end_ns(next - 1)), width));
    bars.push_back({static_cast<float>(std::max(from, -1.0)), static_cast<float>(std::min(to, width + 1)), i, next - i});
    i = next;
  }
  return bars;
}

std::optional<size_t> event_at(const TimelineLane& lane, double ns) {
  auto i =
      static_cast<size_t>(std::upper_bound(lane.begin_ns.begin(), lane.begin_ns.end(), static_cast<int64_t>(ns)) - lane.begin_ns.begin());
  if (i == 0 || static_cast<double>(lane.end_ns(i - 1)) < ns) return {};
  return i - 1;
}

std::vector<OpStatistics> statistics(const Timeline& t, double begin_ns, double end_ns) {
  std::map<std::string, std::vector<uint32_t>> lengths;
  for (const TimelineLane& lane : t.workers) {
    auto i = static_cast<size_t>(std::lower_bound(lane.begin_ns.begin(), lane.begin_ns.end(), static_cast<int64_t>(std::ceil(begin_ns))) -
                                 lane.begin_ns.begin());
    for (; i < lane.size() && static_cast<double>(lane.begin_ns[i]) < end_ns; ++i)
      lengths[t.steps[lane.step[i]].op].push_back(lane.length_ns[i]);
  }
  std::vector<OpStatistics> all;
  double total = 0;
  for (auto& [op, of] : lengths) {
    OpStatistics s{QString::fromStdString(op), static_cast<qlonglong>(of.size())};
    for (const uint32_t l : of) s.total_ns += l;
    s.mean_ns = s.total_ns / static_cast<double>(of.size());
    // Nearest rank.
    const size_t at = static_cast<size_t>(std::ceil(0.95 * static_cast<double>(of.size()))) - 1;
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(at), of.end());
    s.p95_ns = of[at];
    s.longest_ns = *std::max_element(of.begin(), of.end());
    total += s.total_ns;
    all.push_back(std::move(s));
  }
  for (OpStatistics& s : all) s.share = total > 0 ? s.total_ns / total : 0;
  std::stable_sort(all.begin(), all.end(), [](const OpStatistics& a, const OpStatistics& b) { return a.total_ns > b.total_ns; });
  return all;
}

Table make_table(const std::vector<OpStatistics>& statistics) {
  Table table;
  table.columns = {{tr("operator"), tr("of the executed steps in the range")},
                   {tr("steps"), tr("how many were executed")},
                   {tr("total ms"), tr("sum of their times; measured, one event a step")},
                   {tr("share"), tr("of the time of all steps in the range")},
                   {tr("mean us"), tr("total / steps")},
                   {tr("p95 us"), tr("95 of 100 were not longer (nearest rank)")},
                   {tr("longest us"), {}}};
  for (const OpStatistics& s : statistics)
    table.rows.push_back({s.op, s.count, s.total_ns * 1e-6, s.share, s.mean_ns * 1e-3, s.p95_ns * 1e-3, s.longest_ns * 1e-3});
  return table;
}

QString duration(double ns) {
  if (ns < 1e3) return QString("%1 ns").arg(ns, 0, 'f', 0);
  if (ns < 1e6) return QString("%1 us").arg(ns * 1e-3, 0, 'g', 3);
  if (ns < 1e9) return QString("%1 ms").arg(ns * 1e-6, 0, 'g', 4);
  return QString("%1 s").arg(ns * 1e-9, 0, 'g', 4);
}

}  // namespace stormcell::views
