#include "views/transitions/transitions_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/pair_chance.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// Four times as often as by chance is the strongest tone.
constexpr double kStrongLift = 2;
/// A share beyond which a scale goes up to 100 %.
constexpr double kNearAll = 0.5;

/// A pair that may get a ribbon, and what of it no chain has taken yet.
struct Candidate {
  FlowRibbons::Ribbon ribbon;
  int64_t left = 0;
  bool drawn = false;
};
using Steps = std::vector<std::vector<Candidate>>;

/// Candidates in succession, from a first column to a last one, whose smallest rest is the largest; empty: there are
/// none.
std::vector<Candidate*> widest_chain(const FlowRibbons& f, Steps& steps) {
  struct Reached {
    int64_t least = 0, sum = 0;
    Candidate* by = nullptr;
  };
  std::vector<std::map<int, Reached>> reached(f.columns.size());
  std::vector<bool> is_first(f.columns.size(), true), is_last(f.columns.size(), true);
  for (const FlowRibbons::Step& step : f.steps) is_first[step.to] = is_last[step.from] = false;
  // Steps are ordered by the column that they leave: when a step's turn comes, all steps into that column are done.
  for (size_t s = 0; s < steps.size(); ++s) {
    const auto from = static_cast<size_t>(f.steps[s].from), to = static_cast<size_t>(f.steps[s].to);
    for (Candidate& c : steps[s]) {
      if (c.left <= 0) continue;
      Reached now{c.left, c.left, &c};
      if (!is_first[from]) {
        const auto before = reached[from].find(c.ribbon.from);
        if (before == reached[from].end()) continue;
        now.least = std::min(now.least, before->second.least), now.sum += before->second.sum;
      }
      Reached& best = reached[to][c.ribbon.to];
      if (std::pair(now.least, now.sum) > std::pair(best.least, best.sum)) best = now;
    }
  }
  Reached end;
  for (size_t c = 0; c < reached.size(); ++c)
    for (const auto& [branch, at] : reached[c])
      if (is_last[c] && std::pair(at.least, at.sum) > std::pair(end.least, end.sum)) end = at;
  std::vector<Candidate*> chain;
  for (Candidate* c = end.by; c != nullptr;) {
    chain.insert(chain.begin(), c);
    const size_t from = f.steps[c->ribbon.step].from;
    c = is_first[from] ? nullptr : reached[from].at(c->ribbon.from).by;
  }
  return chain;
}

/// Takes chains as long as `most` ribbons have room for them.
void take_chains(Steps& steps, int most, FlowRibbons& f) {
  std::vector<FlowRibbons::Chain>& chains = f.chains;
  int drawn = 0;
  for (;;) {
    const std::vector<Candidate*> chain = widest_chain(f, steps);
    const int more = std::count_if(chain.begin(), chain.end(), [](const Candidate* c) { return !c->drawn; });
    if (chain.empty() || drawn + more > most) return;
    drawn += more;
    FlowRibbons::Chain taken{std::vector<int>(f.columns.size(), -1), INT64_MAX};
    for (const Candidate* c : chain) {
      const FlowRibbons::Step& step = f.steps[c->ribbon.step];
      taken.branches[step.from] = c->ribbon.from, taken.branches[step.to] = c->ribbon.to;
      taken.count = std::min(taken.count, c->left);
    }
    for (Candidate* c : chain) {
      if (!c->drawn) c->ribbon.chain = static_cast<int>(chains.size());
      c->drawn = true;
      c->left -= taken.count;
    }
    chains.push_back(std::move(taken));
  }
}

PairBeside beside_of(const BranchPairs& pairs, const BranchPairs::Entry& e) {
  if (!pairs.judged) return PairBeside::not_judged;
  return e.beyond ? PairBeside::more_often : e.rarer ? PairBeside::more_rarely : PairBeside::within;
}

}  // namespace

QString text_of(PairBeside beside) {
  switch (beside) {
    case PairBeside::not_judged:
      return {};
    case PairBeside::within:
      return tr("within chance");
    case PairBeside::more_often:
      return tr("more often than by chance");
    case PairBeside::more_rarely:
      return tr("more rarely than by chance");
  }
  return {};
}

PairText text_of(PairValue value) {
  switch (value) {
    case PairValue::share:
      return {tr("Share of the row"),
              tr("pairs of this row and column / all pairs of the row: where the row's cells went (of k choices a "
                 "cell, each is 1/k at most); measured")};
    case PairValue::cells:
      return {tr("Cells"), tr("pairs (kept branch here, kept branch there) of one cell, without padding; measured")};
    case PairValue::lift:
      return {tr("Lift"),
              tr("pairs / what chance would give: 1 is chance, 2 is twice as often. By chance: drawn by how many pairs "
                 "each branch has, of two "
                 "that one cell got together one and then another one, as analyze does; the tone is the logarithm")};
  }
  return {};
}

PairMatrix make_pairs(const BranchPairs& pairs, const QString& from, const QString& to, PairValue value,
                      bool together) {
  PairMatrix m;
  m.from = from, m.to = to;
  m.title = together ? tr("%1: branches that one cell got together").arg(from)
                     : tr("%1 (rows) to %2 (columns)").arg(from, to);
  m.rows = pairs.rows, m.columns = pairs.columns, m.together = together, m.shown = value;
  const size_t size = static_cast<size_t>(m.rows) * static_cast<size_t>(m.columns);
  m.count.assign(size, 0);
  m.row_sum.assign(m.rows, 0);
  m.column_sum.assign(m.columns, 0);
  const auto add = [&](int row, int column, double count) {
    m.count[m.at(row, column)] += count;
    m.row_sum[row] += count;
    m.column_sum[column] += count;
    m.total += count;
  };
  for (const BranchPairs::Entry& e : pairs.entries) {
    add(e.from, e.to, static_cast<double>(e.count));
    if (together) add(e.to, e.from, static_cast<double>(e.count));  // a pair without order stands in both halves
  }
  if (pairs.judged) {
    m.title += tr("; grey: within chance");
    m.beside.assign(size, PairBeside::within);
    for (const std::vector<BranchPairs::Entry>* judged : {&pairs.entries, &pairs.absent})
      for (const BranchPairs::Entry& e : *judged) {
        m.beside[m.at(e.from, e.to)] = beside_of(pairs, e);
        if (together) m.beside[m.at(e.to, e.from)] = beside_of(pairs, e);
      }
  }
  m.value.resize(size);
  double most = 0;
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.columns; ++c) {
      const double count = m.count[m.at(r, c)], row = m.row_sum[r], expected = m.by_chance(r, c);
      double& v = m.value[m.at(r, c)];
      v = value == PairValue::cells   ? count
          : value == PairValue::share ? (row > 0 ? count / row : std::nan(""))
          : expected > 0              ? count / expected
                                      : std::nan("");
      if (std::isfinite(v)) most = std::max(most, v);
    }
  // With many branches no share is near 1: then the largest share has the strongest tone.
  m.high = value == PairValue::lift                                      ? std::exp2(kStrongLift)
           : most <= 0 || (value == PairValue::share && most > kNearAll) ? 1
                                                                         : most;
  m.tone.resize(size);
  for (size_t i = 0; i < size; ++i) {
    const double v = m.value[i];
    const double tone = !std::isfinite(v) ? 0 : m.two_sided() ? std::log2(std::max(1e-9, v)) / kStrongLift : v / m.high;
    m.tone[i] = static_cast<float>(std::clamp(tone, m.two_sided() ? -1.0 : 0.0, 1.0));
  }
  return m;
}

double PairMatrix::by_chance(int row, int column) const {
  const double from = row_sum[row], to = column_sum[column];
  if (!together) return following_by_chance(from, to, total);
  return row == column ? 0 : together_by_chance(from, to, total / 2);  // both halves of it have each pair
}

double FlowRibbons::drawn() const {
  double all = 0, rest = 0;
  for (size_t s = 0; s < total.size(); ++s)
    all += static_cast<double>(total[s]), rest += static_cast<double>(merged[s]);
  return all > 0 ? 1 - rest / all : 0;
}

namespace {

/// The routers that edges join with one, in any direction: flags.
std::vector<bool> joined_with(const RoutingFlow& flow, int32_t router) {
  std::vector<bool> joined(flow.routers.size());
  joined[router] = true;
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t r = 0; r < flow.routers.size(); ++r)
      for (const FlowEdge& e : flow.routers[r].next)
        if (const size_t to = e.to; joined[r] != joined[to]) joined[r] = joined[to] = grown = true;
  }
  return joined;
}

}  // namespace

namespace {

/// Keys of every column's branches by load: those that carry more in or out come first.
std::vector<BranchKey> keys_by_ribbons(const FlowRibbons& f) {
  std::vector<std::vector<int64_t>> in(f.columns.size()), out(f.columns.size());
  for (size_t c = 0; c < f.columns.size(); ++c)
    in[c].resize(f.columns[c].branches), out[c].resize(f.columns[c].branches);
  for (const FlowRibbons::Ribbon& r : f.ribbons) {
    out[f.steps[r.step].from][r.from] += r.count;
    in[f.steps[r.step].to][r.to] += r.count;
  }
  std::vector<BranchKey> keys;
  for (size_t c = 0; c < f.columns.size(); ++c) {
    for (size_t b = 0; b < in[c].size(); ++b) in[c][b] = std::max(in[c][b], out[c][b]);
    keys.push_back({BranchScheme::load, load_ranks(in[c])});
  }
  return keys;
}

}  // namespace

FlowRibbons make_ribbons(const RoutingFlow& flow, int most) {
  FlowRibbons f;
  if (flow.router < 0) return f;
  const std::vector<bool> joined = joined_with(flow, flow.router);
  std::vector<int> column_of(flow.routers.size(), -1);
  for (size_t r = 0; r < flow.routers.size(); ++r) {
    if (!joined[r]) continue;
    column_of[r] = static_cast<int>(f.columns.size());
    f.columns.push_back(flow.routers[r].line);
  }
  Steps steps;
  for (size_t r = 0; r < flow.routers.size(); ++r)
    for (size_t e = 0; joined[r] && e < flow.routers[r].next.size(); ++e) {
      const FlowEdge& edge = flow.routers[r].next[e];
      const int step = steps.size();
      f.steps.push_back({column_of[r], column_of[edge.to]});
      f.total.push_back(edge.pairs.total);
      f.merged.push_back(edge.pairs.total);
      f.merged_pairs.push_back(edge.pairs.pairs);
      f.pairs += edge.pairs.pairs;
      steps.emplace_back();
      for (const BranchPairs::Entry& p : edge.pairs.entries)
        steps.back().push_back({{step, p.from, p.to, p.count, -1, beside_of(edge.pairs, p)}, p.count});
    }
  if (f.pairs > most && !steps.empty()) take_chains(steps, most, f);
  // Beside chains, other pairs would only hide them: the strongest ones are all in the same few steps.
  for (const std::vector<Candidate>& step : steps)
    for (const Candidate& c : step)
      if (c.drawn || f.chains.empty()) f.ribbons.push_back(c.ribbon);
  std::stable_sort(f.ribbons.begin(), f.ribbons.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  f.ribbons.resize(std::min(f.ribbons.size(), static_cast<size_t>(most)));
  for (const FlowRibbons::Ribbon& r : f.ribbons) {
    f.merged[r.step] -= r.count;
    --f.merged_pairs[r.step];
  }
  f.keys = keys_by_ribbons(f);
  return f;
}

void set_keys(FlowRibbons& ribbons, const BranchKeys& keys) {
  for (size_t c = 0; c < ribbons.columns.size(); ++c)
    if (const auto at = keys.find(ribbons.columns[c].name); at != keys.end()) ribbons.keys[c] = at->second;
}

QString describe(const PairMatrix& m, int row, int column) {
  const size_t at = m.at(row, column);
  const double row_sum = m.row_sum[row], by_chance = m.by_chance(row, column);
  QString text = m.together ? tr("<b>%1</b>: branches %2 and %3").arg(m.from.toHtmlEscaped()).arg(row).arg(column)
                            : tr("<b>%1</b> branch %2, then <b>%3</b> branch %4")
                                  .arg(m.from.toHtmlEscaped())
                                  .arg(row)
                                  .arg(m.to.toHtmlEscaped())
                                  .arg(column);
  text += tr("<br>%1").arg(counted_text(std::llround(m.count[at]), "cell"));
  if (row_sum > 0) text += tr(", %1 % of the row's").arg(100 * m.count[at] / row_sum, 0, 'f', 1);
  if (by_chance > 0) text += tr(", %1 times what chance would give").arg(m.count[at] / by_chance, 0, 'f', 2);
  if (const QString beside = text_of(m.beside_chance(row, column)); !beside.isEmpty()) text += "; " + beside;
  const PairText value = text_of(m.shown);
  return text + tr("<br><i>%1: %2</i>").arg(value.name, value.definition);
}

Table make_table(const RoutingFlow& flow) {
  Table table;
  table.columns = {
      {tr("kind"), tr("transition: to a router that the cells meet next; together: two branches that one "
                      "cell got from one router")},
      {tr("router"), tr("the model's name of the router")},
      {tr("branch"), tr("of this router")},
      {tr("to router"), tr("a router that the cells meet next, or the same one")},
      {tr("to branch"), tr("of that router")},
      {tr("cells"), text_of(PairValue::cells).definition},
      {tr("share of row"), text_of(PairValue::share).definition},
      {tr("lift"), text_of(PairValue::lift).definition},
      {tr("beside chance"), tr("beside the loads of both branches, with regard to the number of pairs: within chance, "
                               "more often or more rarely; as analyze judges it")}};
  if (flow.router < 0) return table;
  const FlowRouter& router = flow.routers[flow.router];
  const QString from = QString::fromStdString(router.line.name);
  const auto add = [&](const BranchPairs& pairs, const QString& to, bool together) {
    if (pairs.entries.empty()) return;
    const PairMatrix m = make_pairs(pairs, from, to, PairValue::lift, together);
    for (const std::vector<BranchPairs::Entry>* listed : {&pairs.entries, &pairs.absent})
      for (const BranchPairs::Entry& e : *listed)
        table.rows.push_back({together ? tr("together") : tr("transition"), from, static_cast<qlonglong>(e.from), to,
                              static_cast<qlonglong>(e.to), static_cast<qlonglong>(e.count),
                              static_cast<double>(e.count) / m.row_sum[e.from], m.value[m.at(e.from, e.to)],
                              !pairs.judged ? Value() : Value(text_of(beside_of(pairs, e)))});
  };
  if (flow.next >= 0) add(flow.transitions, QString::fromStdString(flow.routers[flow.next].line.name), false);
  add(flow.together, from, true);
  return table;
}

}  // namespace stormcell::views
