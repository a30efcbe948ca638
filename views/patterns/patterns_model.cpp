#include "views/patterns/patterns_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "views/words/figure_text.h"
#include "views/words/router_names.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {


std::vector<QString> branch_names(int32_t branches) {
  std::vector<QString> names;
  for (int32_t b = 0; b < branches; ++b) names.push_back("#" + QString::number(b));
  return names;
}

PatternPage hint_page(const QString& title, const QString& hint) {
  PatternPage page;
  page.title = title, page.hint = hint;
  return page;
}

/// The lack of the data that concerns a figure that begins so.
QString lack_of(const PatternFigures& f, const char* figure) {
  for (const std::string& lack : f.lacks)
    if (lack.starts_with(figure)) return to_qstring(lack);
  return tr("The run has nothing for this figure.");
}

const MarginFigures* margins_of(const PatternRouter& r, MarginKind kind) {
  for (const MarginFigures& m : r.margins)
    if (m.kind == kind) return &m;
  return nullptr;
}

PatternPage layers_page(const PatternFigures& f, const PatternChoice& choice) {
  PatternPage page;
  page.places = pattern_router_names(f);
  PatternLine line;
  for (const PatternRouter& r : f.routers) {
    std::optional<double> value;
    std::optional<ChanceRange> chance;
    const bool judged = r.cells > 0 && r.chance.entropy_bits.range.high > 0;
    if (choice.figure == LayerFigure::entropy) {
      value = r.entropy_bits, chance = r.chance.entropy_bits.range;
    } else if (choice.figure == LayerFigure::gini) {
      value = r.gini, chance = r.chance.gini.range;
    } else if (choice.figure == LayerFigure::imbalance) {
      value = r.imbalance, chance = r.chance.imbalance.range;
    } else if (choice.figure == LayerFigure::margin) {
      if (const MarginFigures* m = margins_of(r, choice.margin)) value = m->median;
    } else if (r.vocabulary && r.vocabulary->figures.specialization) {
      value = *r.vocabulary->figures.specialization, chance = r.vocabulary->chance.range;
    }
    if (r.cells == 0) value.reset();
    if (choice.figure != LayerFigure::vocabulary && !judged) chance.reset();
    line.values.push_back(value), line.chance.push_back(chance);
  }
  static constexpr const char* kTitles[] = {
      QT_TRANSLATE_NOOP("Patterns", "Entropy of the loads, in bits"),
      QT_TRANSLATE_NOOP("Patterns", "Gini coefficient of the loads"),
      QT_TRANSLATE_NOOP("Patterns", "Imbalance of the loads: largest / mean - 1"),
      QT_TRANSLATE_NOOP("Patterns", "Median margin"),
      QT_TRANSLATE_NOOP("Patterns", "Vocabulary specialization: mean largest share of a token's cells")};
  page.title = tr(kTitles[static_cast<int>(choice.figure)]);
  page.shares = choice.figure == LayerFigure::vocabulary;
  if (std::none_of(line.values.begin(), line.values.end(), [](const auto& v) { return v.has_value(); }))
    return hint_page(page.title, lack_of(f, choice.figure == LayerFigure::margin ? "margins" : "vocabulary"));
  line.name = tr("this run");
  page.lines.push_back(std::move(line));
  return page;
}

/// Sides of a scale around the uniform line, in powers of two.
constexpr double kMostPowers = 3;

PatternPage labels_page(const PatternFigures& f, const PatternChoice& choice) {
  const PatternRouter& r = f.routers.at(choice.router);
  const double uniform = static_cast<double>(r.k) / r.branches;
  PatternPage page;
  page.title =
      tr("Share of each label's cells at each expert, beside the uniform line of %1").arg(percent_text(uniform));
  if (r.labels.empty()) return hint_page(page.title, lack_of(f, "labels"));
  page.router = choice.router;
  PatternMap& map = page.map;
  map.two_sided = true, map.columns = branch_names(r.branches), map.columns_are_branches = true;
  map.least = times_text(std::exp2(-kMostPowers)), map.most = times_text(std::exp2(kMostPowers));
  for (const LabelFigures& l : r.labels) {
    map.rows.push_back(to_qstring(l.label));
    for (int32_t b = 0; b < r.branches; ++b) {
      const double share = static_cast<double>(l.load[b]) / static_cast<double>(l.cells);
      const double powers = share > 0 ? std::log2(share / uniform) : -kMostPowers;
      map.squares.push_back(
          PatternSquare{std::clamp(powers / kMostPowers, -1., 1.), l.shares[b].beside != BesideChance::within,
                        tr("%1: %2 of %3 go to #%4; even routers %5 to %6")
                            .arg(to_qstring(l.label), percent_text(share), counted_text(l.cells, "cell"))
                            .arg(b)
                            .arg(percent_text(l.shares[b].range.low), percent_text(l.shares[b].range.high))});
    }
  }
  return page;
}

std::set<std::pair<int32_t, int32_t>> pairs_beyond(const PairsBesideChance& chance) {
  std::set<std::pair<int32_t, int32_t>> pairs;
  for (const PairBeyondChance& p : chance.beyond) pairs.emplace(p.from, p.to);
  return pairs;
}

/// Tones from 0 to the largest value; squares without a value stay empty.
void fill_map(const std::map<std::pair<int32_t, int32_t>, PatternSquare>& squares, PatternMap& map) {
  double most = 0;
  for (const auto& [place, square] : squares) most = std::max(most, square.tone);
  map.squares.resize(map.rows.size() * map.columns.size());
  for (const auto& [place, square] : squares) {
    PatternSquare scaled = square;
    if (most > 0) scaled.tone /= most;
    map.squares[map.index(place.first, place.second)] = scaled;
  }
  map.least = percent_text(0), map.most = percent_text(most);
}

PatternPage transitions_page(const PatternFigures& f, const PatternChoice& choice) {
  if (f.gaps.empty())
    return hint_page(tr("Transitions between layers"), tr("No cell met two layers that are so far apart."));
  const GapFigures& gap = f.gaps.at(choice.router);
  const PatternRouter &from = f.routers[gap.from], &to = f.routers[gap.to];
  PatternPage page;
  page.title = tr("Share of an expert's cells at %1 that go to each expert of %2")
                   .arg(to_qstring(from.router), to_qstring(to.router));
  page.router = gap.from;
  page.map.rows = branch_names(from.branches), page.map.columns = branch_names(to.branches);
  page.map.rows_are_branches = true;
  std::vector<int64_t> came(from.branches);
  for (const PairCount& p : gap.all.entries) came[p.from] += p.count;
  const auto beyond = pairs_beyond(gap.chance);
  std::map<std::pair<int32_t, int32_t>, PatternSquare> squares;
  for (const PairCount& p : gap.all.entries) {
    const double share = static_cast<double>(p.count) * to.k / static_cast<double>(came[p.from]);
    squares[{p.from, p.to}] = {
        share, beyond.contains({p.from, p.to}),
        tr("#%1 → #%2: %3, %4").arg(p.from).arg(p.to).arg(percent_text(share), counted_text(p.count, "cell"))};
  }
  fill_map(squares, page.map);
  return page;
}

PatternPage coactivation_page(const PatternFigures& f, const PatternChoice& choice) {
  const PatternRouter& r = f.routers.at(choice.router);
  PatternPage page;
  page.title = tr("Share of an expert's cells that another expert got too, of all pairs");
  if (!r.together) return hint_page(page.title, tr("A cell gets one expert here, so there are no pairs."));
  page.router = choice.router;
  page.map.rows = page.map.columns = branch_names(r.branches);
  page.map.rows_are_branches = true;
  std::map<std::pair<int32_t, int32_t>, int64_t> neighbours;
  for (const PairCount& p : r.together->neighbours.entries) neighbours[{p.from, p.to}] = p.count;
  const auto beyond = pairs_beyond(r.together->chance);
  std::map<std::pair<int32_t, int32_t>, PatternSquare> squares;
  for (const PairCount& p : r.together->all.entries)
    for (const auto& [a, b] : {std::pair(p.from, p.to), std::pair(p.to, p.from)}) {
      const double share = r.load[a] > 0 ? static_cast<double>(p.count) / static_cast<double>(r.load[a]) : 0;
      const auto next = neighbours.find({p.from, p.to});
      squares[{a, b}] = {share, beyond.contains({p.from, p.to}),
                         tr("#%1 with #%2: %3 of its cells, %4; rank neighbours alone: %5")
                             .arg(a)
                             .arg(b)
                             .arg(percent_text(share), counted_text(p.count, "cell"),
                                  count_text(next == neighbours.end() ? 0 : next->second))};
    }
  fill_map(squares, page.map);
  return page;
}

PatternPage vocabulary_page(const PatternFigures& f) {
  PatternPage page;
  page.title = tr("Specialization of experts: mean share of the tokens that an expert gets most of");
  std::map<std::pair<int32_t, int32_t>, PatternSquare> squares;
  const std::vector<QString> names = pattern_router_names(f);
  const std::map<int32_t, std::string> pieces(f.pieces.begin(), f.pieces.end());
  int32_t widest = 0;
  for (int r = 0; r < static_cast<int>(f.routers.size()); ++r) {
    const PatternRouter& router = f.routers[r];
    if (!router.vocabulary) continue;
    const auto row = static_cast<int32_t>(page.map.rows.size());
    page.map.rows.push_back(names[r]), page.map.router_of_row.push_back(r);
    const auto& branches = router.vocabulary->figures.branches;
    widest = std::max(widest, static_cast<int32_t>(branches.size()));
    for (int32_t b = 0; b < static_cast<int32_t>(branches.size()); ++b) {
      if (!branches[b].specialization) continue;
      QStringList tokens;
      for (const BranchToken& t : branches[b].strongest) {
        const auto at = pieces.find(t.token);
        tokens << (at == pieces.end() ? "#" + QString::number(t.token) : "“" + to_qstring(at->second) + "”") + " " +
                      percent_text(t.share);
        if (tokens.size() == 8) break;
      }
      squares[{row, b}] = {*branches[b].specialization, router.vocabulary->beyond,
                           tr("%1 #%2: %3 over %4\n%5")
                               .arg(names[r])
                               .arg(b)
                               .arg(percent_text(*branches[b].specialization),
                                    counted_text(branches[b].tokens, "token"), tokens.join(", "))};
    }
  }
  if (page.map.rows.empty()) return hint_page(page.title, lack_of(f, "vocabulary"));
  page.map.columns = branch_names(widest), page.map.columns_are_branches = true;
  fill_map(squares, page.map);
  return page;
}

PatternPage margins_page(const PatternFigures& f, const PatternChoice& choice) {
  PatternPage page;
  page.title = choice.margin == MarginKind::cut
                   ? tr("Margins of the last chosen above the first not chosen expert, by layer")
                   : tr("Margins of the first above the second choice, by layer");
  std::set<double> edges;
  for (const PatternRouter& r : f.routers)
    if (const MarginFigures* m = margins_of(r, choice.margin)) edges.insert(m->edges.begin(), m->edges.end());
  if (edges.empty()) return hint_page(page.title, lack_of(f, "margins"));
  std::map<double, int32_t> column;
  for (const double edge : edges) {
    column[edge] = static_cast<int32_t>(page.map.columns.size());
    page.map.columns.push_back(number_text(edge, 2));
  }
  const std::vector<QString> names = pattern_router_names(f);
  std::map<std::pair<int32_t, int32_t>, PatternSquare> squares;
  for (int r = 0; r < static_cast<int>(f.routers.size()); ++r) {
    const MarginFigures* m = margins_of(f.routers[r], choice.margin);
    if (!m) continue;
    const auto row = static_cast<int32_t>(page.map.rows.size());
    page.map.rows.push_back(names[r]), page.map.router_of_row.push_back(r);
    for (size_t i = 0; i < m->bins.size(); ++i) {
      if (m->bins[i] == 0) continue;
      const double share = static_cast<double>(m->bins[i]) / static_cast<double>(m->cells);
      squares[{row, column[m->edges[i]]}] = {
          share, true,
          tr("%1: %2 of the cells from %3 on").arg(names[r], percent_text(share), number_text(m->edges[i], 3))};
    }
  }
  fill_map(squares, page.map);
  return page;
}

PatternPage saturation_lines(const PatternValues& values) {
  PatternPage page;
  page.title = tr("Share of the last run's choices that earlier runs made, by layer");
  if (!values.saturation)
    return hint_page(page.title, tr("Earlier runs of this session with the same cells are needed: import a recording "
                                    "of each checkpoint into one session, the first one first."));
  const SaturationFigures& s = *values.saturation;
  page.shares = true;
  for (const SaturationRouter& r : s.routers) page.places.push_back(to_qstring(r.router));
  for (size_t i = 0; i + 1 < s.names.size(); ++i) {
    PatternLine line;
    line.name = to_qstring(s.names[i]);
    for (const SaturationRouter& r : s.routers) {
      line.values.push_back(r.points[i].share);
      line.chance.push_back(r.points[i].share ? std::optional(r.points[i].chance.range) : std::nullopt);
    }
    page.lines.push_back(std::move(line));
  }
  return page;
}

}  // namespace

std::vector<QString> pattern_router_names(const PatternFigures& f) {
  std::vector<RouterLine> lines;
  for (const PatternRouter& r : f.routers) {
    RouterLine line;
    line.name = r.router, line.branches = r.branches, line.fan_out = r.k;
    lines.push_back(std::move(line));
  }
  return short_names(lines);
}

std::vector<QString> pattern_gap_names(const PatternFigures& f) {
  const std::vector<QString> names = pattern_router_names(f);
  std::vector<QString> gaps;
  for (const GapFigures& gap : f.gaps) gaps.push_back(names[gap.from] + " → " + names[gap.to]);
  return gaps;
}

PatternPage make_pattern_page(const PatternValues& values, const PatternChoice& choice) {
  if (choice.form == PatternForm::saturation) return saturation_lines(values);
  if (!values.patterns || values.patterns->routers.empty()) return hint_page({}, tr("Nothing was read yet."));
  const PatternFigures& f = *values.patterns;
  PatternChoice within = choice;
  const auto all = choice.form == PatternForm::transitions ? f.gaps.size() : f.routers.size();
  within.router = std::clamp(choice.router, 0, std::max(0, static_cast<int>(all) - 1));
  switch (choice.form) {
    case PatternForm::labels:
      return labels_page(f, within);
    case PatternForm::transitions:
      return transitions_page(f, within);
    case PatternForm::coactivation:
      return coactivation_page(f, within);
    case PatternForm::vocabulary:
      return vocabulary_page(f);
    case PatternForm::margins:
      return margins_page(f, within);
    default:
      return layers_page(f, within);
  }
}

QString line_words(const PatternPage& page, size_t line, size_t place) {
  const PatternLine& of = page.lines.at(line);
  const auto text = [&](double v) { return page.shares ? percent_text(v) : number_text(v); };
  if (place >= of.values.size() || !of.values[place]) return {};
  QString words = tr("%1, %2: %3").arg(page.places[place], of.name, text(*of.values[place]));
  if (const auto& chance = of.chance[place])
    words += tr("; even routers %1 to %2").arg(text(chance->low), text(chance->high));
  return words;
}

}  // namespace stormcell::views
