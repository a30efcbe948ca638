#include "views/compare/compare_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/comparison/withheld_figures.h"
#include "core/summary/withheld.h"
#include "views/compare/compare_names.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

Meaning meaning_of(const ComparedFigure& f, Better better) {
  if (!f.a || !f.b) return Meaning::only_one;
  if (!f.comparable) return Meaning::apart;
  if (!f.difference) return Meaning::apart;
  if (f.within_chance == true && *f.difference != 0) return Meaning::within_chance;
  if (!f.significant) return *f.difference == 0 ? Meaning::same : Meaning::unknown;
  if (!*f.significant || *f.difference == 0) return Meaning::same;
  if (better == Better::neither) return Meaning::differs;
  return (*f.difference < 0) == (better == Better::less) ? Meaning::better : Meaning::worse;
}

QString difference_text(const ComparedFigure& f, const FigureName& name) {
  if (!f.difference) return QString::fromUtf8("–");
  if (*f.difference == 0) return "0";
  if (*f.a != 0 && name.relative) return change_text(*f.a, *f.b);
  return (*f.difference > 0 ? QString("+") : QString(QChar(0x2212))) + name.text(std::abs(*f.difference));
}

CompareRow make_row(const ComparedFigure& f, const Comparison& c) {
  CompareRow row;
  row.figure = f;
  row.path = QString::fromStdString(f.figure);
  const FigureName name = name_of(row.path);
  row.name = name.name, row.router = name.router, row.branch = name.branch;
  const QString none = QString::fromUtf8("–");
  row.a = f.a ? name.text(*f.a) : none, row.b = f.b ? name.text(*f.b) : none;
  const std::array<std::string, 2> withheld = {f.a ? std::string() : why_withheld(f.figure, c.withheld[0]),
                                               f.b ? std::string() : why_withheld(f.figure, c.withheld[1])};
  row.equal = f.difference && *f.difference == 0;
  row.difference = difference_text(f, name);
  const bool is_withheld = !withheld[0].empty() || !withheld[1].empty();
  row.meaning =
      is_withheld ? Meaning::withheld : meaning_of(f, c.judges() ? figure_of(f.figure).better : Better::neither);
  if (f.difference && *f.a != 0 && name.relative) {
    const double unit = std::abs(*f.a);
    row.relative = *f.difference / unit;
    if (f.ci95) row.interval = {{(*f.ci95)[0] / unit, (*f.ci95)[1] / unit}};
  }
  row.tip = "<b>" + row.path.toHtmlEscaped() + "</b>";
  if (!name.definition.isEmpty()) row.tip += "<br>" + name.definition.toHtmlEscaped();
  row.tip += "<br>" + tr("reference %1, this run %2: %3").arg(row.a, row.b, row.difference);
  for (const std::string& why : withheld)
    if (!why.empty())
      row.tip += "<br>" + tr("not measured well enough: %1").arg(QString::fromStdString(why).toHtmlEscaped());
  if (row.interval)
    row.tip += "<br>" + tr("95 % interval of the difference: %1 % to %2 %, from the intervals of both runs")
                            .arg(100 * (*row.interval)[0], 0, 'f', 1)
                            .arg(100 * (*row.interval)[1], 0, 'f', 1);
  row.tip += "<br><i>" + definition_of(row.meaning).toHtmlEscaped() + "</i>";
  return row;
}

bool shown(const CompareSection& section, const CompareRow& row, const CompareFilter& filter) {
  const bool significant =
      row.meaning == Meaning::better || row.meaning == Meaning::worse || row.meaning == Meaning::differs;
  if (filter.show == CompareShow::significant && !significant) return false;
  if (filter.show == CompareShow::differing && row.equal) return false;
  for (const QString& word : filter.search.split(' ', Qt::SkipEmptyParts))
    if (!(section.title + " " + row.name + " " + row.path).contains(word, Qt::CaseInsensitive)) return false;
  return true;
}

}  // namespace

QString text_of(Meaning meaning) {
  switch (meaning) {
    case Meaning::better:
      return tr("better");
    case Meaning::worse:
      return tr("worse");
    case Meaning::differs:
      return tr("differs");
    case Meaning::same:
      return tr("no difference");
    case Meaning::unknown:
      return tr("without interval");
    case Meaning::only_one:
      return tr("only in one");
    case Meaning::apart:
      return tr("not comparable");
    case Meaning::withheld:
      return tr("not measured well enough");
    case Meaning::within_chance:
      return tr("within chance");
  }
  return {};
}

QString definition_of(Meaning meaning) {
  switch (meaning) {
    case Meaning::better:
    case Meaning::worse:
      return tr("Significant: the 95 % interval of the difference does not hold 0, or two counts differ.");
    case Meaning::differs:
      return tr("Significant, without a better and a worse.");
    case Meaning::same:
      return tr("The figures are equal, or the 95 % interval of the difference holds 0.");
    case Meaning::unknown:
      return tr("Measured once in each run, without an interval: this may be chance.");
    case Meaning::only_one:
      return tr("One of the runs does not have this figure.");
    case Meaning::apart:
      return tr(
          "Both runs have this figure, and it is of other things in each, or a warning above says that it must not be "
          "compared.");
    case Meaning::withheld:
      return tr("A run that was disturbed, or too short, does not state it.");
    case Meaning::within_chance:
      return tr("In both runs even routers can have such loads, so the difference says nothing about the router.");
  }
  return {};
}

int CompareModel::count(Meaning meaning) const {
  int64_t count = 0;
  for (const CompareSection& s : sections)
    count += std::count_if(s.rows.begin(), s.rows.end(), [&](const CompareRow& r) { return r.meaning == meaning; });
  return static_cast<int>(count);
}

CompareModel make_compare(const Comparison& comparison, const QString& title_a, const QString& title_b) {
  CompareModel model{title_a, title_b, {}, {}};
  for (const std::string& w : comparison.warnings) model.warnings << QString::fromStdString(w);
  for (size_t side = 0; side < 2; ++side)
    if (const std::string why = why_withheld("speedup", comparison.withheld[side]); !why.empty())
      model.warnings << tr("the speed-up of %1 was not measured well enough: %2")
                            .arg(side == 0 ? title_a : title_b, QString::fromStdString(why));
  std::vector<std::pair<int, CompareSection>> sections;
  for (const ComparedFigure& figure : comparison.rows) {
    if (!figure.a && !figure.b && why_withheld(figure.figure, comparison.withheld[1]).empty()) continue;
    const FigureName name = name_of(QString::fromStdString(figure.figure));
    auto at =
        std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.second.title == name.section; });
    if (at == sections.end()) at = sections.insert(at, {name.rank, {name.section, {}}});
    at->second.rows.push_back(make_row(figure, comparison));
  }
  std::stable_sort(sections.begin(), sections.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  for (auto& [rank, section] : sections) model.sections.push_back(std::move(section));
  return model;
}

std::vector<CompareLine> make_lines(const CompareModel& model, const CompareFilter& filter) {
  std::vector<CompareLine> lines;
  for (const CompareSection& section : model.sections) {
    bool titled = false;
    for (const CompareRow& row : section.rows) {
      if (!shown(section, row, filter)) continue;
      if (!titled) lines.push_back({&section, nullptr});
      titled = true;
      lines.push_back({&section, &row});
    }
  }
  return lines;
}

Table make_compare_table(const CompareModel& model, const CompareFilter& filter) {
  Table t;
  t.columns = {
      {tr("section"), tr("Part of the figures")},
      {tr("figure"), tr("Its name")},
      {tr("reference"), model.title_a},
      {tr("this run"), model.title_b},
      {tr("difference"), tr("this run - reference, in the figure's unit")},
      {tr("relative"), tr("difference / |reference|")},
      {tr("95 % from"), tr("Lower end of the difference's 95 % interval, where both figures have one")},
      {tr("95 % to"), tr("Upper end of the difference's 95 % interval, where both figures have one")},
      {tr("meaning"),
       tr("better, worse: significant, and in which direction; differs: significant, without a better and worse; "
          "without interval: measured once in each run, so chance is not excluded; within chance: even routers can "
          "have such loads in both runs")},
      {tr("path"), tr("As in the JSON of the verbs and in compare --fail-if")}};
  const auto value = [](const std::optional<double>& v) { return v ? Value(*v) : Value(); };
  for (const CompareLine& line : make_lines(model, filter))
    if (line.row) {
      const CompareRow& r = *line.row;
      const auto& ci = r.figure.ci95;
      t.rows.push_back({line.section->title, r.name, value(r.figure.a), value(r.figure.b), value(r.figure.difference),
                        value(r.relative), ci ? Value((*ci)[0]) : Value(), ci ? Value((*ci)[1]) : Value(),
                        text_of(r.meaning), r.path});
    }
  return t;
}

}  // namespace stormcell::views
