#include "views/timeline/timeline_model.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// Settings of a run that its batches and its baseline follow from.
constexpr const char* kAlikeSettings[] = {"model", "data", "dtype", "batch", "length", "bucket_by_length"};

/// Numbers of the events that belong to each of `groups` groups, ascending by begin. `group_of`: of each step, -1:
/// none.
std::vector<std::vector<uint32_t>> chosen_by(const Timeline& t, const std::vector<int>& group_of, size_t groups) {
  std::vector<size_t> counts(groups);
  for (const TimelineLane& lane : t.workers)
    for (const uint32_t step : lane.step)
      if (group_of[step] >= 0) ++counts[group_of[step]];
  std::vector<std::vector<uint32_t>> chosen(groups);
  for (size_t g = 0; g < groups; ++g) chosen[g].reserve(counts[g]);
  // Lanes are ascending each; the earliest of their next events comes next.
  std::vector<size_t> next(t.workers.size()), offset(t.workers.size());
  for (size_t w = 1; w < t.workers.size(); ++w) offset[w] = offset[w - 1] + t.workers[w - 1].size();
  for (;;) {
    size_t first = t.workers.size();
    for (size_t w = 0; w < t.workers.size(); ++w)
      if (next[w] < t.workers[w].size() &&
          (first == t.workers.size() || t.workers[w].begin_ns[next[w]] < t.workers[first].begin_ns[next[first]]))
        first = w;
    if (first == t.workers.size()) return chosen;
    if (const int group = group_of[t.workers[first].step[next[first]]]; group >= 0)
      chosen[group].push_back(static_cast<uint32_t>(offset[first] + next[first]));
    ++next[first];
  }
}

}  // namespace

TimelineEvents::TimelineEvents(const std::vector<TimelineLane>& lanes, std::vector<uint32_t> chosen)
    : lanes_(lanes.data()), chosen_(std::move(chosen)) {
  for (const TimelineLane& lane : lanes) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + lane.size());
}

size_t TimelineEvents::first_at(int64_t ns, size_t from) const {
  // The event is usually near: search with doubling steps, then halve the last one.
  size_t end = from, step = 1;
  while (end < size() && begin_ns(end) < ns) {
    from = end + 1;
    end += step;
    step *= 2;
  }
  end = std::min(end, size());
  while (from < end) {
    const size_t middle = from + (end - from) / 2;
    if (begin_ns(middle) < ns)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

std::vector<TimelineRow> make_run_rows(const Timeline& t) {
  std::vector<TimelineRow> rows;
  rows.push_back({TimelineRow::Kind::batches, tr("batches"), TimelineEvents(t.spans)});
  for (size_t w = 0; w < t.workers.size(); ++w)
    rows.push_back({TimelineRow::Kind::thread, tr("thread %1").arg(w), TimelineEvents(t.workers[w])});
  return rows;
}

std::vector<TimelineRow> make_rows(const Timeline& t) {
  using Kind = TimelineRow::Kind;
  std::vector<TimelineRow> rows = make_run_rows(t);
  std::vector<std::string> ops;
  std::vector<int> op_of, router_of;
  for (const TimelineStep& step : t.steps) {
    const auto op = std::find(ops.begin(), ops.end(), step.op);
    op_of.push_back(static_cast<int>(op - ops.begin()));
    if (op == ops.end()) ops.push_back(step.op);
    router_of.push_back(step.router >= 0 && static_cast<size_t>(step.router) < t.routers.size() ? step.router : -1);
  }
  std::vector<double> total(ops.size());
  for (const TimelineLane& lane : t.workers)
    for (size_t i = 0; i < lane.size(); ++i) total[op_of[lane.step[i]]] += static_cast<double>(lane.length_ns[i]);
  std::vector<size_t> order(ops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return total[a] != total[b] ? total[a] > total[b] : ops[a] < ops[b]; });
  auto by_op = chosen_by(t, op_of, ops.size()), by_router = chosen_by(t, router_of, t.routers.size());
  for (const size_t o : order)
    if (!by_op[o].empty())
      rows.push_back({Kind::op, QString::fromStdString(ops[o]), TimelineEvents(t.workers, std::move(by_op[o]))});
  for (size_t r = 0; r < t.routers.size(); ++r)
    if (!by_router[r].empty())
      rows.push_back({Kind::router, QString::fromStdString(t.routers[r]),
                      TimelineEvents(t.workers, std::move(by_router[r])),
                      std::ranges::any_of(t.steps, [&](const TimelineStep& step) {
                        return step.branch >= 0 && step.router == static_cast<int32_t>(r);
                      })});
  return rows;
}

const RunLine* baseline_of(const SessionOverview& session, int64_t run) {
  const auto line = std::ranges::find(session.runs, run, &RunLine::id);
  if (line == session.runs.end() || run_kind(line->kind) == RunKind::profile) return nullptr;
  const auto settings_of = [](const RunLine& of) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(of.settings)).object();
  };
  const QJsonObject settings = settings_of(*line);
  const auto like = [&](const RunLine& of) {
    const QJsonObject there = settings_of(of);
    return std::ranges::all_of(kAlikeSettings, [&](const char* key) { return there[key] == settings[key]; });
  };
  const RunLine* newest = nullptr;
  for (const RunLine& of : session.runs)
    if (of.id < run && run_kind(of.kind) == RunKind::profile && of.batches > 0 && of.phase == line->phase &&
        of.device == line->device && like(of))
      newest = &of;
  return newest;
}

std::vector<GuardBar> guard_bars(const Timeline& t, const GuardsOfRun& guards) {
  std::vector<GuardBar> bars;
  for (size_t i = 0; i < t.spans.size(); ++i) {
    const auto of = std::ranges::lower_bound(guards.batches, int64_t{t.spans.step[i]}, {}, &GuardsOfBatch::batch);
    if (of != guards.batches.end() && of->batch == t.spans.step[i])
      bars.push_back({t.spans.begin_ns[i], t.spans.end_ns(i), *of});
  }
  return bars;
}

QString guards_text(const GuardsOfBatch& of) {
  if (of.misses == 0) return tr("%1 held").arg(of.hits);
  return tr("%1 held, %2 missed").arg(of.hits).arg(of.misses);
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

std::vector<TimelineBar> make_bars(const TimelineEvents& events, const TimeWindow& window, double width, double least) {
  std::vector<TimelineBar> bars;
  const double ns_per_pixel = (window.end_ns - window.begin_ns) / std::max(1.0, width);
  // Events of a row do not overlap, or hardly: the first one on show is at most one before the first that begins on
  // show.
  size_t i = events.first_at(static_cast<int64_t>(window.begin_ns));
  if (i > 0 && static_cast<double>(events.end_ns(i - 1)) > window.begin_ns) --i;
  while (i < events.size() && static_cast<double>(events.begin_ns(i)) < window.end_ns) {
    const double begin = events.begin_ns(i);
    size_t next = i + 1;
    if (static_cast<double>(events.length_ns(i)) < least * ns_per_pixel) {
      // All that begins within the bar's least width goes into it.
      next = events.first_at(static_cast<int64_t>(begin + least * ns_per_pixel), next);
      // A long event that begins there as well stays a bar of its own; only the last can be one, since they do not
      // overlap.
      if (next - i > 1 && static_cast<double>(events.length_ns(next - 1)) >= least * ns_per_pixel) --next;
    }
    const double from = window.x(begin, width);
    const double to = std::max(from + (next - i > 1 ? least : std::min(least, 1.0)),
                               window.x(static_cast<double>(events.end_ns(next - 1)), width));
    bars.push_back(
        {static_cast<float>(std::max(from, -1.0)), static_cast<float>(std::min(to, width + 1)), i, next - i});
    i = next;
  }
  return bars;
}

std::optional<size_t> event_at(const TimelineEvents& events, double ns) {
  const size_t i = events.first_at(static_cast<int64_t>(ns) + 1);
  if (i == 0 || static_cast<double>(events.end_ns(i - 1)) < ns) return {};
  return i - 1;
}

std::vector<OpStatistics> statistics(const Timeline& t, double begin_ns, double end_ns) {
  std::map<std::string, std::vector<float>> lengths;
  for (const TimelineLane& lane : t.workers) {
    auto i = static_cast<size_t>(
        std::lower_bound(lane.begin_ns.begin(), lane.begin_ns.end(), static_cast<int64_t>(std::ceil(begin_ns))) -
        lane.begin_ns.begin());
    for (; i < lane.size() && static_cast<double>(lane.begin_ns[i]) < end_ns; ++i)
      lengths[t.steps[lane.step[i]].op].push_back(lane.length_ns[i]);
  }
  std::vector<OpStatistics> all;
  double total = 0;
  for (auto& [op, of] : lengths) {
    OpStatistics s{QString::fromStdString(op), static_cast<qlonglong>(of.size())};
    for (const float l : of) s.total_ns += static_cast<double>(l);
    s.mean_ns = s.total_ns / static_cast<double>(of.size());
    // Nearest rank.
    const size_t at = static_cast<size_t>(std::ceil(0.95 * static_cast<double>(of.size()))) - 1;
    std::nth_element(of.begin(), of.begin() + at, of.end());
    s.p95_ns = static_cast<double>(of[at]);
    s.longest_ns = static_cast<double>(*std::max_element(of.begin(), of.end()));
    total += s.total_ns;
    all.push_back(std::move(s));
  }
  for (OpStatistics& s : all) s.share = total > 0 ? s.total_ns / total : 0;
  std::stable_sort(all.begin(), all.end(),
                   [](const OpStatistics& a, const OpStatistics& b) { return a.total_ns > b.total_ns; });
  return all;
}

GuardsOfBatch guards_between(const std::vector<GuardBar>& bars, double begin_ns, double end_ns) {
  GuardsOfBatch sum;
  for (const GuardBar& bar : bars)
    if (static_cast<double>(bar.begin_ns) >= begin_ns && static_cast<double>(bar.begin_ns) < end_ns)
      sum.hits += bar.of.hits, sum.misses += bar.of.misses;
  return sum;
}

Table make_table(const std::vector<OpStatistics>& statistics, const GuardsOfBatch& guards) {
  Table table;
  table.columns = {{tr("operator"), tr("of the executed steps in the range")},
                   {tr("steps"), tr("how many were executed")},
                   {tr("total ms"), tr("sum of their times; measured, one event a step")},
                   {tr("share"), tr("of the time of all steps in the range")},
                   {tr("mean us"), tr("total / steps")},
                   {tr("p95 us"), tr("95 of 100 were not longer (nearest rank)")},
                   {tr("longest us"), {}}};
  for (const OpStatistics& s : statistics)
    table.rows.push_back(
        {s.op, s.count, s.total_ns * 1e-6, s.share, s.mean_ns * 1e-3, s.p95_ns * 1e-3, s.longest_ns * 1e-3});
  if (guards.hits + guards.misses == 0) return table;
  // Counted of batches, with no times of their own.
  for (const auto& [name, count] :
       {std::pair{tr("guards that held"), guards.hits}, {tr("guards that missed"), guards.misses}})
    table.rows.push_back({name, static_cast<qlonglong>(count), Value(), Value(), Value(), Value(), Value()});
  return table;
}

QString duration(double ns) {
  if (ns < 1e3) return QString("%1 ns").arg(ns, 0, 'f', 0);
  if (ns < 1e6) return QString("%1 us").arg(ns * 1e-3, 0, 'g', 3);
  if (ns < 1e9) return QString("%1 ms").arg(ns * 1e-6, 0, 'g', 4);
  return QString("%1 s").arg(ns * 1e-9, 0, 'g', 4);
}

int category_of(const std::string& op) {
  // Nearly all that a network of pictures does falls on one colour by its hash.
  constexpr std::pair<std::string_view, int> kOwn[] = {{"conv2d", 0}, {"resize", 3}, {"pixel_shuffle", 7}};
  for (const auto& [name, category] : kOwn)
    if (op == name) return category;
  uint32_t hash = 2166136261u;
  for (const char c : op) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return static_cast<int>(hash % 8);
}

}  // namespace stormcell::views
