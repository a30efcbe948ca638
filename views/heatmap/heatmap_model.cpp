#include "views/heatmap/heatmap_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

#include "core/base/balance.h"
#include "views/drawing/value_axis.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// The router of another run that can be compared with this one; null: there is none.
const LoadWindows::Router* same_router(const LoadWindows& of, const LoadWindows::Router& as) {
  const auto at = std::find_if(of.routers.begin(), of.routers.end(), [&](const LoadWindows::Router& r) {
    return r.line.name == as.line.name && r.line.branches == as.line.branches;
  });
  return at == of.routers.end() ? nullptr : &*at;
}
/// Load of one branch in one window.
int64_t load_of(const LoadWindows::Router& router, size_t at, bool padding) {
  return router.load[at] - (padding || router.padding.empty() ? 0 : router.padding[at]);
}

std::vector<int> ordered(const LoadWindows::Router& router, WindowRange range, int64_t windows, HeatOrder order,
                         bool padding) {
  std::vector<int> branches(router.line.branches);
  std::iota(branches.begin(), branches.end(), 0);
  if (order == HeatOrder::load) {
    const BranchSums sums = sum_windows(router, range.from, range.to, padding);
    std::stable_sort(branches.begin(), branches.end(), [&](int a, int b) { return sums.load[a] > sums.load[b]; });
  } else if (order == HeatOrder::clustered) {
    branches = cluster_branches(router, windows);
  }
  return branches;
}

/// Tones from values, by the scale that the options ask for.
void set_tones(HeatMatrix& m, double high) {
  const HeatOptions& o = m.options;
  double most = 0;
  for (const HeatRow& row : m.rows)
    for (const double v : row.value) most = std::max(most, std::abs(v));
  m.high = high > 0 ? high : most > 0 ? most : 1;
  const bool ends_low = ends_at_minus_one(o);
  m.low = ends_low ? -1 : m.two_sided ? -m.high : 0;
  for (HeatRow& row : m.rows) {
    double top = m.high;
    if (o.scale == HeatScale::per_router) {
      top = 0;
      for (const double v : row.value) top = std::max(top, std::abs(v));
      if (top == 0) top = 1;
    }
    row.tone.resize(row.value.size());
    for (size_t c = 0; c < row.value.size(); ++c) {
      const double v = row.value[c];
      double t = std::clamp(v / (v < 0 && ends_low ? 1 : top), -1.0, 1.0);
      // Three decades: a thousandth of the largest value is as pale as nothing.
      if (o.scale == HeatScale::logarithmic)
        t = std::copysign(std::max(0.0, 1 + std::log10(std::max(1e-12, std::abs(t))) / 3), v);
      row.tone[c] = static_cast<float>(t);
    }
  }
}

}  // namespace

const Term& term_of(HeatMetric metric) {
  switch (metric) {
    case HeatMetric::load:
      return term("load");
    case HeatMetric::share:
      return term("share");
    case HeatMetric::weight:
      return term("weight mass");
    case HeatMetric::drops:
      return term("drops");
    case HeatMetric::imbalance:
      return term("imbalance");
  }
  return term("load");
}

int HeatRow::column_of(int branch_number) const {
  const auto at = std::find(branch.begin(), branch.end(), branch_number);
  return at == branch.end() ? -1 : static_cast<int>(at - branch.begin());
}

BranchSums sum_windows(const LoadWindows::Router& router, int64_t from, int64_t to, bool padding) {
  const size_t branches = router.line.branches;
  BranchSums sums;
  sums.load.resize(branches);
  sums.dropped.resize(router.dropped.empty() ? 0 : branches);
  sums.weight.resize(router.weight.empty() ? 0 : branches);
  for (size_t w = from; w < static_cast<size_t>(to); ++w)
    for (size_t b = 0; b < branches; ++b) {
      sums.load[b] += load_of(router, w * branches + b, padding);
      if (!sums.dropped.empty()) sums.dropped[b] += router.dropped[w * branches + b];
      if (!sums.weight.empty()) sums.weight[b] += router.weight[w * branches + b];
    }
  sums.total = static_cast<double>(std::accumulate(sums.load.begin(), sums.load.end(), int64_t{0}));
  return sums;
}

double metric_of(HeatMetric metric, const BranchSums& sums, size_t branch) {
  const double load = sums.load[branch];
  switch (metric) {
    case HeatMetric::load:
      return load;
    case HeatMetric::share:
      return sums.total > 0 ? load / sums.total : 0;
    case HeatMetric::weight:
      return sums.weight.empty() ? 0 : sums.weight[branch];
    case HeatMetric::drops:
      return sums.dropped.empty() ? 0 : static_cast<double>(sums.dropped[branch]);
    case HeatMetric::imbalance:
      return sums.total > 0 ? load * static_cast<double>(sums.load.size()) / sums.total - 1 : 0;
  }
  return 0;
}

WindowRange windows_of(const LoadWindows& data, int64_t first_batch, int64_t end_batch) {
  const int64_t size = data.batches_per_window;
  const int64_t from = std::clamp<int64_t>(first_batch / size - data.first_window, 0, data.windows);
  const int64_t to = end_batch < 0
                         ? data.windows
                         : std::clamp<int64_t>((end_batch + size - 1) / size - data.first_window, 0, data.windows);
  return {from, std::max(from, to)};
}

HeatMatrix make_matrix(const LoadWindows& data, WindowRange range, const HeatOptions& options, double high,
                       const LoadWindows* order_by) {
  HeatMatrix m;
  m.options = options;
  m.two_sided = options.metric == HeatMetric::imbalance;
  m.first_batch = (data.first_window + range.from) * data.batches_per_window;
  m.end_batch = std::min(data.batches, (data.first_window + range.to) * data.batches_per_window);
  const LoadWindows& orders = order_by ? *order_by : data;
  for (const LoadWindows::Router& router : data.routers) {
    const BranchSums sums = sum_windows(router, range.from, range.to, options.padding);
    HeatRow row{QString::fromStdString(router.line.name),
                QString::fromStdString(router.line.protocol),
                {},
                {},
                {},
                sums.total,
                imbalance(sums.load),
                entropy_bits(sums.load)};
    const LoadWindows::Router* same = same_router(orders, router);
    row.branch = !same ? ordered(router, range, data.windows, HeatOrder::index, options.padding)
                       : ordered(*same, order_by ? WindowRange{0, orders.windows} : range, orders.windows,
                                 options.order, options.padding);
    for (const int b : row.branch) row.value.push_back(metric_of(options.metric, sums, static_cast<size_t>(b)));
    m.columns = std::max(m.columns, router.line.branches);
    m.rows.push_back(std::move(row));
  }
  set_tones(m, high);
  return m;
}

void mark_within_chance(const LoadChances& chances, HeatMatrix& m) {
  if (m.options.metric == HeatMetric::weight || m.options.metric == HeatMetric::drops) return;
  for (HeatRow& row : m.rows) {
    const auto at = chances.find(row.router.toStdString());
    row.within_chance = at != chances.end() && !at->second.beyond;
  }
}

HeatScale readable_scale(const LoadWindows& data, WindowRange range, const HeatOptions& options, double high) {
  constexpr float kSeen = 0.15F;
  HeatOptions common = options;
  common.scale = HeatScale::common;
  const HeatMatrix m = make_matrix(data, range, common, high);
  if (m.two_sided || options.pair == HeatPair::difference) return HeatScale::common;
  std::vector<float> tones;
  for (const HeatRow& row : m.rows)
    std::ranges::copy_if(row.tone, std::back_inserter(tones), [](float tone) { return tone > 0; });
  if (tones.empty()) return HeatScale::common;
  const auto median = tones.begin() + std::ssize(tones) / 2;
  std::nth_element(tones.begin(), median, tones.end());
  return *median < kSeen ? HeatScale::logarithmic : HeatScale::common;
}

std::vector<ScaleTick> scale_ticks(const HeatMatrix& m, int most) {
  std::vector<ScaleTick> ticks;
  if (m.options.scale == HeatScale::logarithmic && !m.two_sided) {
    for (int decade = -3; decade <= 0; ++decade) ticks.push_back({1 + decade / 3.0, m.high * std::pow(10, decade)});
    return ticks;
  }
  const bool relative = m.options.scale == HeatScale::per_router;
  if (relative || m.options.scale == HeatScale::logarithmic) {
    // The halves of a logarithmic scale with two sides have decades of their own: its ends and its middle say enough.
    for (const double at : m.two_sided ? std::vector<double>{0, 0.5, 1} : std::vector<double>{0, 0.25, 0.5, 0.75, 1})
      ticks.push_back({at, m.two_sided ? (at < 0.5 ? m.low : at > 0.5 ? m.high : 0) : at * (relative ? 1 : m.high)});
    return ticks;
  }
  // On both sides of 0 the tones differ, so each side has ticks of its own.
  const auto place = [&](double value) {
    if (!m.two_sided) return value / m.high;
    return value < 0 ? 0.5 - 0.5 * value / m.low : 0.5 + 0.5 * value / m.high;
  };
  const ValueAxis axis{m.low, m.high, 0, 1};
  ticks.push_back({0, m.low});
  for (const double value : axis.ticks(most))
    if (value > m.low && value < m.high) ticks.push_back({place(value), value});
  ticks.push_back({1, m.high});
  return ticks;
}

QString part_of_data_text(int64_t shown, int64_t recorded, int64_t data) {
  const int64_t all = std::max(recorded, data);
  if (shown <= 0 || shown >= all) return {};
  return tr("Only %1 of %2: a branch that is empty here may have cells in the others.")
      .arg(count_text(shown), counted_text(all, "batch"));
}

bool ends_at_minus_one(const HeatOptions& options) {
  return options.metric == HeatMetric::imbalance && options.pair != HeatPair::difference;
}

bool have_a_router_in_common(const LoadWindows& a, const LoadWindows& b) {
  return std::any_of(a.routers.begin(), a.routers.end(),
                     [&](const LoadWindows::Router& router) { return same_router(b, router); });
}

HeatMatrix make_difference(const LoadWindows& a, WindowRange range_a, const LoadWindows& b, WindowRange range_b,
                           const HeatOptions& options, double high) {
  HeatMatrix m = make_matrix(a, range_a, options);
  const HeatMatrix other = make_matrix(b, range_b, options, 0, &a);
  std::vector<HeatRow> rows;
  for (HeatRow& row : m.rows) {
    const auto same = std::find_if(other.rows.begin(), other.rows.end(), [&](const HeatRow& r) {
      return r.router == row.router && r.branch.size() == row.branch.size();
    });
    if (same == other.rows.end()) continue;
    for (size_t c = 0; c < row.value.size(); ++c) row.value[c] -= same->value[same->column_of(row.branch[c])];
    rows.push_back(std::move(row));
  }
  m.rows = std::move(rows);
  m.two_sided = true;
  set_tones(m, high);
  return m;
}

std::vector<int> cluster_branches(const LoadWindows::Router& router, int64_t windows) {
  const auto branches = static_cast<size_t>(router.line.branches), times = static_cast<size_t>(windows);
  std::vector<std::vector<double>> profile(branches, std::vector<double>(times));
  std::vector<double> total(branches);
  for (size_t b = 0; b < branches; ++b) {
    double squares = 0;
    for (size_t w = 0; w < times; ++w) {
      const double share =
          router.cells[w] > 0 ? static_cast<double>(router.load[w * branches + b]) / router.cells[w] : 0;
      profile[b][w] = share;
      total[b] += static_cast<double>(router.load[w * branches + b]);
      squares += share * share;
    }
    if (squares > 0)
      for (double& v : profile[b]) v /= std::sqrt(squares);
  }
  std::vector<int> order;
  std::vector<bool> used(branches);
  size_t at = std::max_element(total.begin(), total.end()) - total.begin();
  while (order.size() < branches) {
    order.push_back(static_cast<int>(at));
    used[at] = true;
    double best = -2;
    size_t next = at;
    for (size_t b = 0; b < branches; ++b) {
      if (used[b]) continue;
      const double alike = std::inner_product(profile[at].begin(), profile[at].end(), profile[b].begin(), 0.0);
      if (alike > best) best = alike, next = b;
    }
    at = next;
  }
  return order;
}

RouterOverTime make_over_time(const LoadWindows& data, size_t router, bool padding) {
  const LoadWindows::Router& r = data.routers[router];
  const size_t branches = r.line.branches;
  RouterOverTime t{QString::fromStdString(r.line.name),
                   data.windows,
                   data.first_batch(),
                   data.end_batch(),
                   r.line.branches,
                   std::vector<float>(r.load.size()),
                   0};
  for (size_t w = 0; w < static_cast<size_t>(data.windows); ++w) {
    int64_t sum = 0;
    for (size_t b = 0; b < branches; ++b) sum += load_of(r, w * branches + b, padding);
    for (size_t b = 0; b < branches && sum > 0; ++b) {
      t.share[w * branches + b] = static_cast<float>(static_cast<double>(load_of(r, w * branches + b, padding)) / sum);
      t.most = std::max(t.most, t.share[w * branches + b]);
    }
  }
  return t;
}

Table make_table(const LoadWindows& data, WindowRange range, const HeatOptions& options, const LoadWindows* other,
                 WindowRange other_range) {
  Table table;
  table.columns = {{tr("router"), tr("the model's name of the router")}, {tr("branch"), tr("its number, from 0")}};
  constexpr HeatMetric metrics[] = {HeatMetric::load, HeatMetric::share, HeatMetric::weight, HeatMetric::drops,
                                    HeatMetric::imbalance};
  for (const HeatMetric m : metrics) table.columns.push_back({term_of(m).name, {}});
  table.columns.push_back({tr("padding"), tr("cells of the branch that are padding: %1 the load")
                                              .arg(options.padding ? tr("counted in") : tr("not counted in"))});
  if (other) {
    table.columns.push_back({tr("other load"), tr("load of the branch in the run that this one is compared with")});
    table.columns.push_back({tr("other share"), tr("share of the branch in the run that this one is compared with")});
    table.columns.push_back({tr("share difference"), tr("share here minus share in the other run")});
  }
  for (const LoadWindows::Router& router : data.routers) {
    const BranchSums all = sum_windows(router, range.from, range.to, true),
                     real = sum_windows(router, range.from, range.to, false);
    const BranchSums& sums = options.padding ? all : real;
    std::optional<BranchSums> others;
    if (const LoadWindows::Router* same = other ? same_router(*other, router) : nullptr)
      others = sum_windows(*same, other_range.from, other_range.to, options.padding);
    const auto count = [](int64_t n) { return Value(static_cast<qlonglong>(n)); };
    for (size_t b = 0; b < sums.load.size(); ++b) {
      std::vector<Value> row = {QString::fromStdString(router.line.name), static_cast<qlonglong>(b)};
      for (const HeatMetric m : metrics) {
        const double v = metric_of(m, sums, b);
        if ((m == HeatMetric::drops && sums.dropped.empty()) || (m == HeatMetric::weight && sums.weight.empty()))
          row.emplace_back();
        else
          row.push_back(m == HeatMetric::load || m == HeatMetric::drops ? count(std::llround(v)) : Value(v));
      }
      row.push_back(router.padding.empty() ? Value() : count(all.load[b] - real.load[b]));
      if (other) {
        row.push_back(others ? count(others->load[b]) : Value());
        row.push_back(others ? Value(metric_of(HeatMetric::share, *others, b)) : Value());
        row.push_back(others ? Value(metric_of(HeatMetric::share, sums, b) - metric_of(HeatMetric::share, *others, b))
                             : Value());
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

QString describe(const HeatMatrix& matrix, const LoadWindows& data, WindowRange range, int row, int column) {
  const HeatRow& r = matrix.rows[row];
  const int branch = r.branch[column];
  const auto router = std::find_if(data.routers.begin(), data.routers.end(),
                                   [&](const auto& x) { return QString::fromStdString(x.line.name) == r.router; });
  if (router == data.routers.end()) return r.router;
  const BranchSums sums = sum_windows(*router, range.from, range.to, matrix.options.padding);
  const size_t b = branch;
  QString text = tr("<b>%1</b>, branch %2 of %3 (%4)<br>%5 cells, %6 % of the router's, %7 times the mean")
                     .arg(r.router.toHtmlEscaped())
                     .arg(branch)
                     .arg(sums.load.size())
                     .arg(r.protocol, count_text(sums.load[b]))
                     .arg(100 * metric_of(HeatMetric::share, sums, b), 0, 'f', 1)
                     .arg(metric_of(HeatMetric::imbalance, sums, b) + 1, 0, 'f', 2);
  if (!router->padding.empty()) {
    const int64_t padding = sum_windows(*router, range.from, range.to, true).load[b] -
                            sum_windows(*router, range.from, range.to, false).load[b];
    if (padding > 0)
      text += matrix.options.padding ? tr("<br>%1 of them padding").arg(count_text(padding))
                                     : tr("<br>and %1 of padding, not counted").arg(count_text(padding));
  }
  if (r.within_chance) text += tr("<br>grey: even routers with as many cells have such loads, too");
  if (!sums.weight.empty()) text += tr("<br>weight mass %1").arg(sums.weight[b], 0, 'f', 1);
  if (!sums.dropped.empty()) text += tr("<br>%1 dropped").arg(count_text(sums.dropped[b]));
  if (matrix.options.pair == HeatPair::difference)
    text +=
        tr("<br>%1: %2 against the other run").arg(term_of(matrix.options.metric).name).arg(r.value[column], 0, 'g', 3);
  text += tr("<br><i>%1: %2</i>").arg(term_of(matrix.options.metric).name, term_of(matrix.options.metric).line());
  return text;
}

}  // namespace stormcell::views
