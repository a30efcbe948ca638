#include "views/transitions/transitions_model.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

namespace stormcell::views {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Transitions", text); }
QString grouped(double count) { return QLocale(QLocale::English).toString(static_cast<qlonglong>(std::llround(count))); }

/// Four times as often as by chance is the strongest tone.
constexpr double kStrongLift = 2;

}  // namespace

PairText text_of(PairValue value) {
  switch (value) {
    case PairValue::share:
      return {tr("Share of the row"), tr("pairs of this row and column / all pairs of the row: where the row's cells went; measured")};
    case PairValue::cells:
      return {tr("Cells"), tr("pairs (kept branch here, kept branch there) of one cell, without padding; measured")};
    case PairValue::lift:
      return {tr("Lift"),
              tr("pairs / (pairs of the row * pairs of the column / all pairs): 1 is what chance would give; the tone is its logarithm")};
  }
  return {};
}

PairMatrix make_pairs(const BranchPairs& pairs, const QString& from, const QString& to, PairValue value, bool together) {
  PairMatrix m;
  m.from = from, m.to = to;
  m.title = together ? tr("%1: branches that one cell got together").arg(from) : tr("%1 (rows) to %2 (columns)").arg(from, to);
  m.rows = pairs.rows, m.columns = pairs.columns, m.together = together, m.shown = value;
  const size_t size = static_cast<size_t>(m.rows) * static_cast<size_t>(m.columns);
  m.count.assign(size, 0);
  m.row_sum.assign(static_cast<size_t>(m.rows), 0);
  m.column_sum.assign(static_cast<size_t>(m.columns), 0);
  const auto add = [&](int row, int column, double count) {
    m.count[m.at(row, column)] += count;
    m.row_sum[static_cast<size_t>(row)] += count;
    m.column_sum[static_cast<size_t>(column)] += count;
    m.total += count;
  };
  for (const BranchPairs::Entry& e : pairs.entries) {
    add(e.from, e.to, static_cast<double>(e.count));
    if (together) add(e.to, e.from, static_cast<double>(e.count));  // a pair without order stands in both halves
  }
  m.value.resize(size);
  double most = 0;
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.columns; ++c) {
      const double count = m.count[m.at(r, c)], row = m.row_sum[static_cast<size_t>(r)],
                   expected = m.total > 0 ? row * m.column_sum[static_cast<size_t>(c)] / m.total : 0;
      double& v = m.value[m.at(r, c)];
      v = value == PairValue::cells   ? count
          : value == PairValue::share ? (row > 0 ? count / row : std::nan(""))
          : expected > 0              ? count / expected
                                      : std::nan("");
      if (std::isfinite(v)) most = std::max(most, v);
    }
  m.high = value == PairValue::lift ? std::exp2(kStrongLift) : value == PairValue::share ? 1 : most > 0 ? most : 1;
  m.tone.resize(size);
  for (size_t i = 0; i < size; ++i) {
    const double v = m.value[i];
    const double tone = !std::isfinite(v) ? 0 : m.two_sided() ? std::log2(std::max(1e-9, v)) / kStrongLift : v / m.high;
    m.tone[i] = static_cast<float>(std::clamp(tone, m.two_sided() ? -1.0 : 0.0, 1.0));
  }
  return m;
}

double FlowRibbons::drawn() const {
  double all = 0, rest = 0;
  for (size_t s = 0; s < total.size(); ++s) all += static_cast<double>(total[s]), rest += static_cast<double>(merged[s]);
  return all > 0 ? 1 - rest / all : 0;
}

FlowRibbons make_ribbons(const RoutingFlow& flow, int most) {
  FlowRibbons f;
  if (flow.router < 0) return f;
  const RouterLine& of = flow.routers[static_cast<size_t>(flow.router)].line;
  for (const FlowRouter& router : flow.routers) {
    if (router.line.stack != of.stack || router.line.space != of.space) continue;
    const int step = static_cast<int>(f.columns.size());
    f.columns.push_back(router.line);
    if (router.next < 0) continue;
    f.total.push_back(router.to_next.total);
    f.merged.push_back(router.to_next.total);
    f.pairs += router.to_next.pairs;
    for (const BranchPairs::Entry& e : router.to_next.entries) f.ribbons.push_back({step, e.from, e.to, e.count});
  }
  std::stable_sort(f.ribbons.begin(), f.ribbons.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  if (static_cast<int>(f.ribbons.size()) > most) f.ribbons.resize(static_cast<size_t>(most));
  for (const FlowRibbons::Ribbon& r : f.ribbons) f.merged[static_cast<size_t>(r.step)] -= r.count;
  return f;
}

QString describe(const PairMatrix& m, int row, int column) {
  const size_t at = m.at(row, column);
  const double row_sum = m.row_sum[static_cast<size_t>(row)], column_sum = m.column_sum[static_cast<size_t>(column)];
  QString text =
      m.together
          ? tr("<b>%1</b>: branches %2 and %3").arg(m.from.toHtmlEscaped()).arg(row).arg(column)
          : tr("<b>%1</b> branch %2, then <b>%3</b> branch %4").arg(m.from.toHtmlEscaped()).arg(row).arg(m.to.toHtmlEscaped()).arg(column);
  text += tr("<br>%1 cells").arg(grouped(m.count[at]));
  if (row_sum > 0) text += tr(", %1 % of the row's").arg(100 * m.count[at] / row_sum, 0, 'f', 1);
  if (row_sum > 0 && column_sum > 0)
    text += tr(", %1 times what chance would give").arg(m.count[at] * m.total / row_sum / column_sum, 0, 'f', 2);
  const PairText value = text_of(m.shown);
  return text + tr("<br><i>%1: %2</i>").arg(value.name, value.definition);
}

Table make_table(const RoutingFlow& flow) {
  Table table;
  table.columns = {
      {tr("kind"), tr("transition: to the next router of the stack; together: two branches that one cell got from one router")},
      {tr("router"), tr("the model's name of the router")},
      {tr("branch"), tr("of this router")},
      {tr("to router"), tr("the next router of the stack, or the same one")},
      {tr("to branch"), tr("of that router")},
      {tr("cells"), text_of(PairValue::cells).definition},
      {tr("share of row"), text_of(PairValue::share).definition},
      {tr("lift"), text_of(PairValue::lift).definition}};
  if (flow.router < 0) return table;
  const FlowRouter& router = flow.routers[static_cast<size_t>(flow.router)];
  const QString from = QString::fromStdString(router.line.name);
  const auto add = [&](const BranchPairs& pairs, const QString& to, bool together) {
    if (pairs.entries.empty()) return;
    const PairMatrix m = make_pairs(pairs, from, to, PairValue::lift, together);
    for (const BranchPairs::Entry& e : pairs.entries)
      table.rows.push_back({together ? tr("together") : tr("transition"), from, static_cast<qlonglong>(e.from), to,
                            static_cast<qlonglong>(e.to), static_cast<qlonglong>(e.count),
                            static_cast<double>(e.count) / m.row_sum[static_cast<size_t>(e.from)], m.value[m.at(e.from, e.to)]});
  };
  if (router.next >= 0) add(flow.transitions, QString::fromStdString(flow.routers[static_cast<size_t>(router.next)].line.name), false);
  add(flow.together, from, true);
  return table;
}

}  // namespace stormcell::views
