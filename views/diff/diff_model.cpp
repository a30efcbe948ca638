#include "views/diff/diff_model.h"

#include <QStringList>
#include <algorithm>
#include <cstdlib>

#include "core/base/listed_words.h"
#include "views/words/figure_text.h"
#include "views/words/router_names.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

double ratio_of(int64_t part, int64_t of) { return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0; }

bool holds(const DifferenceFigures& f, DiffPlace place) {
  return place.there() && place.layer < std::ssize(f.layers) &&
         place.group < std::ssize(f.layers[place.layer].positions);
}

/// Texts of the core begin small and have no full stop.
QString sentence(const std::string& text) {
  QString words = to_qstring(text);
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words.isEmpty() || words.endsWith('.') ? words : words + '.';
}

DiffPlace strongest_of(const DifferenceFigures& f, int layer) {
  DiffPlace best;
  double most = -1;
  for (int g = 0; g < groups_of(f); ++g)
    if (const auto share = share_at_place(f, {layer, g}); share && *share > most) most = *share, best = {layer, g};
  return best;
}

Value figure_or_nothing(const std::optional<double>& value) { return value ? Value(*value) : Value(); }
Value text_or_nothing(const std::string& text) { return text.empty() ? Value() : Value(to_qstring(text)); }
Value token_or_nothing(int32_t token) { return token < 0 ? Value() : Value(qlonglong{token}); }

/// Nothing: that side did not record it.
std::optional<double> score_of(const DiffSample& sample, DiffSide side, int32_t branch) {
  const std::vector<float>& scores = side == DiffSide::a ? sample.scores_a : sample.scores_b;
  const std::vector<int32_t> either = sample.either();
  const auto at = std::find(either.begin(), either.end(), branch) - either.begin();
  if (at >= std::ssize(scores)) return {};
  return static_cast<double>(scores[at]);
}
/// The scores of a side's choices in their order; nothing: not recorded.
Value scores_or_nothing(const DiffSample& sample, DiffSide side) {
  QStringList list;
  for (const int32_t branch : side == DiffSide::a ? sample.a : sample.b) {
    const std::optional<double> score = score_of(sample, side, branch);
    if (!score) return {};
    list << number_text(*score, 6);
  }
  return list.join(", ");
}

Table table_of_map(const DifferenceFigures& f) {
  Table table{{{tr("router"), tr("The router of a")},
               {tr("router of b"), tr("The router of b that it is compared with")},
               {tr("first position"), tr("The first position of a request that the row counts")},
               {tr("last position"), tr("The last position of a request that the row counts")},
               {tr("cells"), tr("Cells that met the router in both recordings; counted")},
               {tr("differing"), tr("Cells whose sets of choices differ; counted")},
               {tr("share"), tr("Differing cells / cells")},
               {tr("low"), tr("Lower end of the 95 % interval of the share, by Wilson's rule")},
               {tr("high"), tr("Upper end of the 95 % interval of the share, by Wilson's rule")}},
              {}};
  for (const DiffLayer& layer : f.layers)
    for (size_t g = 0; g < layer.positions.size(); ++g) {
      const DiffGroup& group = layer.positions[g];
      const auto first = static_cast<qlonglong>(g) * f.position_width;
      std::optional<double> share, low, high;
      if (group.cells > 0) share = ratio_of(group.differing, group.cells);
      if (group.share_ci95) low = (*group.share_ci95)[0], high = (*group.share_ci95)[1];
      table.rows.push_back({to_qstring(layer.router), to_qstring(layer.router_b), first, first + f.position_width - 1,
                            qlonglong{group.cells}, qlonglong{group.differing}, figure_or_nothing(share),
                            figure_or_nothing(low), figure_or_nothing(high)});
    }
  return table;
}

Table table_of_sequences(const DifferenceFigures& f) {
  Table table{{{tr("request"), tr("The number of the request in a")},
               {tr("position"), tr("Its first position at which any choice differs")},
               {tr("token"), tr("The id of the token at this position, if it is recorded")},
               {tr("text"), tr("The text of this token, if it is recorded")},
               {tr("router"), tr("The first router whose choices differ at this position")}},
              {}};
  for (const DiffSequence& s : f.sequences)
    table.rows.push_back({qlonglong{s.request}, qlonglong{s.position}, token_or_nothing(s.token),
                          text_or_nothing(s.text), to_qstring(s.router)});
  return table;
}

Table table_of_margins(const DifferenceFigures& f) {
  Table table{
      {{tr("margin from"), tr("Lower end of the bin; a margin is the distance of the last chosen score from the "
                              "first one that was not chosen")},
       {tr("cells"), tr("Cells of all routers with a margin in this bin")},
       {tr("where a difference begins"), tr("Those of them for which all earlier routers of the cell agree")}},
      {}};
  if (f.margins)
    for (size_t i = 0; i < f.margins->edges.size(); ++i)
      table.rows.push_back({f.margins->edges[i], qlonglong{f.margins->all[i]}, qlonglong{f.margins->first[i]}});
  return table;
}

Table table_of_experts(const DifferenceFigures& f) {
  Table table{{{tr("router"), tr("The router of a")},
               {tr("expert"), tr("The branch; up to eight of each router, those that move most")},
               {tr("gained"), tr("Cells that have it in b alone")},
               {tr("lost"), tr("Cells that have it in a alone")},
               {tr("net"), tr("Gained minus lost")}},
              {}};
  for (const MovedExpert& m : moved_experts(f))
    table.rows.push_back({m.router, qlonglong{m.branch}, qlonglong{m.gained}, qlonglong{m.lost}, qlonglong{m.net()}});
  return table;
}

Table table_of_cells(const DifferenceFigures& f) {
  Table table{{{tr("router"), tr("The router of a")},
               {tr("request"), tr("The number of the request in a")},
               {tr("position"), tr("The position of the cell in its request")},
               {tr("token"), tr("The id of the token, if it is recorded")},
               {tr("text"), tr("The text of the token, if it is recorded")},
               {tr("choices of a"), tr("The branches that a chose, in the order of the recording")},
               {tr("choices of b"), tr("The branches that b chose, in the order of the recording")},
               {tr("margin"), tr("The distance of the last chosen score from the first one that was not chosen")},
               {tr("begins here"), tr("yes: all earlier routers of the cell agree; no: it is a consequence")},
               {tr("scores of a"), tr("What a's router gave the choices of a, in their order, if it is recorded")},
               {tr("scores of b"), tr("What b's router gave the choices of b, in their order, if it is recorded")}},
              {}};
  for (const DiffSample& s : f.samples)
    table.rows.push_back({to_qstring(f.layers[s.layer].router), qlonglong{s.request}, qlonglong{s.position},
                          token_or_nothing(s.token), text_or_nothing(s.text), choices_text(s.a), choices_text(s.b),
                          figure_or_nothing(s.margin), s.consequence ? tr("no") : tr("yes"),
                          scores_or_nothing(s, DiffSide::a), scores_or_nothing(s, DiffSide::b)});
  return table;
}

Table table_of_verdict(const DifferenceFigures& f) {
  Table table{{{tr("what"), tr("A part of the verdict, or a count")}, {tr("value"), tr("Its words or its count")}}, {}};
  const DiffWords words = words_of(f);
  for (const auto& [what, text] : {std::pair{tr("verdict"), words.verdict},
                                   {tr("evidence"), words.evidence},
                                   {tr("check next"), words.next},
                                   {tr("further"), words.rest},
                                   {tr("a"), to_qstring(f.a)},
                                   {tr("b"), to_qstring(f.b)}})
    if (!text.isEmpty()) table.rows.push_back({what, text});
  for (const auto& [what, count] : {std::pair{tr("choices of cells"), f.compared},
                                    {tr("differing"), f.differing},
                                    {tr("where a difference begins"), f.origins},
                                    {tr("consequences"), f.consequences},
                                    {tr("requests"), f.matched_requests},
                                    {tr("requests that differ"), f.sequences_differing}})
    table.rows.push_back({what, qlonglong{count}});
  if (f.near_ties) table.rows.push_back({tr("near ties"), qlonglong{*f.near_ties}});
  return table;
}

}  // namespace

int groups_of(const DifferenceFigures& f) {
  return f.layers.empty() ? 0 : static_cast<int>(f.layers.front().positions.size());
}

std::optional<double> share_at_place(const DifferenceFigures& f, DiffPlace place) {
  if (!holds(f, place)) return {};
  const DiffGroup& group = f.layers[place.layer].positions[place.group];
  if (group.cells == 0) return {};
  return ratio_of(group.differing, group.cells);
}

double end_of_scale(const DifferenceFigures& f) {
  const auto share = share_at_place(f, strongest_place(f));
  return share && *share > 0 ? *share : 1;
}

DiffPlace strongest_place(const DifferenceFigures& f) {
  DiffPlace best;
  double most = -1;
  for (int layer = 0; layer < static_cast<int>(f.layers.size()); ++layer) {
    const DiffPlace place = strongest_of(f, layer);
    if (const auto share = share_at_place(f, place); share && *share > most) most = *share, best = place;
  }
  return best;
}

DiffPlace place_of(const DifferenceFigures& f, const QString& router, std::optional<int32_t> position) {
  const std::string name = router.toStdString();
  for (int layer = 0; layer < static_cast<int>(f.layers.size()); ++layer) {
    if (f.layers[layer].router != name && f.layers[layer].router_b != name) continue;
    if (!position) return strongest_of(f, layer);
    const DiffPlace place{layer, *position / std::max(1, f.position_width)};
    return holds(f, place) ? place : DiffPlace{};
  }
  return {};
}

std::vector<const DiffSample*> samples_at(const DifferenceFigures& f, DiffPlace place) {
  std::vector<const DiffSample*> found;
  for (const DiffSample& s : f.samples)
    if (s.layer == place.layer && s.group == place.group) found.push_back(&s);
  return found;
}

QString positions_text(const DifferenceFigures& f, int group) {
  const int first = group * f.position_width;
  if (f.position_width == 1) return tr("position %1").arg(first);
  return tr("positions %1 to %2").arg(first).arg(first + f.position_width - 1);
}

QString describe(const DifferenceFigures& f, DiffPlace place) {
  if (!holds(f, place)) return {};
  const DiffLayer& layer = f.layers[place.layer];
  const DiffGroup& group = layer.positions[place.group];
  const QString where = to_qstring(layer.router) + ", " + positions_text(f, place.group);
  if (group.cells == 0) return tr("%1: no cell of both recordings").arg(where);
  QString text = tr("%1: %2 of %3 differ (%4)")
                     .arg(where, count_text(group.differing), counted_text(group.cells, "cell"),
                          percent_text(ratio_of(group.differing, group.cells)));
  if (group.share_ci95)
    text += tr("\n95 % interval %1 to %2; counted")
                .arg(percent_text((*group.share_ci95)[0]), percent_text((*group.share_ci95)[1]));
  return text;
}

QString token_text(int32_t token, const std::string& text) {
  if (text.empty()) return token < 0 ? QString(QChar(0x2013)) : QString("#%1").arg(token);
  QString piece = to_qstring(text);
  piece.replace(QChar(0x2581), ' ');  // how a vocabulary marks a blank
  for (QChar& c : piece)
    if (c.category() == QChar::Other_Control) c = QChar(0x00B7);
  return QChar(0x201C) + piece + QChar(0x201D);
}

QString choices_text(const std::vector<int32_t>& branches) {
  QStringList list;
  for (const int32_t branch : branches) list << QString::number(branch);
  return list.join(", ");
}

QString choices_with_scores(const DiffSample& sample, DiffSide side) {
  const std::vector<int32_t>& branches = side == DiffSide::a ? sample.a : sample.b;
  QStringList list;
  for (const int32_t branch : branches) {
    const std::optional<double> score = score_of(sample, side, branch);
    list << (score ? tr("%1 (%2)").arg(branch).arg(number_text(*score)) : QString::number(branch));
  }
  return list.join(", ");
}

QString describe_cell(const DifferenceFigures& f, const DiffSample& s) {
  QString text = tr("%1, request %2, position %3")
                     .arg(to_qstring(f.layers[s.layer].router))
                     .arg(s.request)
                     .arg(s.position);
  if (s.token >= 0 || !s.text.empty()) text += tr(", token %1").arg(token_text(s.token, s.text));
  text += tr("\na chose %1\nb chose %2").arg(choices_text(s.a), choices_text(s.b));
  if (s.scores_a.empty() && s.scores_b.empty()) return text + tr("\nNo scores are recorded.");
  const auto of_side = [&](DiffSide side, int32_t branch) {
    const std::optional<double> score = score_of(s, side, branch);
    return score ? number_text(*score, 6) : tr("not recorded");
  };
  for (const int32_t branch : s.either())
    text += tr("\nscore of %1: %2 in a, %3 in b")
                .arg(branch)
                .arg(of_side(DiffSide::a, branch), of_side(DiffSide::b, branch));
  return text;
}

std::vector<QString> layer_names(const DifferenceFigures& f) {
  std::vector<RouterLine> lines;
  for (const DiffLayer& layer : f.layers) {
    lines.emplace_back();
    lines.back().name = layer.router;
  }
  return short_names(lines);
}

DiffWords words_of(const DifferenceFigures& f) {
  const DiffVerdict& v = f.verdict;
  DiffWords words;
  words.verdict = tr("Verdict: %1").arg(v.cause.empty() ? tr("cannot be told") : to_qstring(v.cause));
  words.evidence = sentence(v.evidence);
  if (!v.next.empty() && !(f.differing == 0 && v.cause == "agree"))
    words.next = tr("Check next: %1.").arg(to_qstring(v.next));
  words.counts = tr("%1 of %2 of cells differ (%3)")
                     .arg(count_text(f.differing), counted_text(f.compared, "choice"),
                          percent_text(ratio_of(f.differing, f.compared)));
  if (f.differing > 0) {
    words.counts += tr(": in %1 a difference begins").arg(count_text(f.origins));
    if (f.near_ties) words.counts += tr(", %1 of them near ties").arg(count_text(*f.near_ties));
    words.counts += tr(", %1 of an earlier router").arg(counted_text(f.consequences, "consequence"));
  }
  words.counts += '.';
  QStringList rest;
  for (const DiffCauseFigures& also : v.also)
    rest << tr("Also %1: %2.").arg(to_qstring(also.cause), to_qstring(also.evidence));
  if (!v.cannot_be_told.empty())
    rest << tr("Not told: %1; %2.").arg(to_qstring(joined(v.cannot_be_told)), to_qstring(v.record));
  words.rest = rest.join(' ');
  return words;
}

std::vector<MarginBar> margin_bars(const DiffMargins& m, int most) {
  std::vector<MarginBar> bars;
  const size_t each = std::max<size_t>(1, (m.edges.size() + static_cast<size_t>(most) - 1) / static_cast<size_t>(most));
  int64_t all = 0, first = 0;
  for (size_t i = 0; i < m.edges.size(); ++i) {
    if (i % each == 0) bars.push_back({m.edges[i]});
    bars.back().all += m.all[i], bars.back().first += m.first[i];
    all += m.all[i], first += m.first[i];
  }
  for (MarginBar& bar : bars) bar.of_all = ratio_of(bar.all, all), bar.of_first = ratio_of(bar.first, first);
  return bars;
}

std::vector<MovedExpert> moved_experts(const DifferenceFigures& f, int layer) {
  std::vector<MovedExpert> moved;
  for (int l = 0; l < static_cast<int>(f.layers.size()); ++l)
    if (layer < 0 || l == layer)
      for (const DiffBranch& branch : f.layers[l].branches)
        moved.push_back({to_qstring(f.layers[l].router), branch.branch, branch.gained, branch.lost});
  std::stable_sort(moved.begin(), moved.end(),
                   [](const MovedExpert& x, const MovedExpert& y) { return std::abs(x.net()) > std::abs(y.net()); });
  return moved;
}

Table make_diff_table(const DifferenceFigures& f, DiffTable which) {
  switch (which) {
    case DiffTable::sequences:
      return table_of_sequences(f);
    case DiffTable::margins:
      return table_of_margins(f);
    case DiffTable::experts:
      return table_of_experts(f);
    case DiffTable::cells:
      return table_of_cells(f);
    case DiffTable::verdict:
      return table_of_verdict(f);
    case DiffTable::map:
      break;
  }
  return table_of_map(f);
}

}  // namespace stormcell::views
