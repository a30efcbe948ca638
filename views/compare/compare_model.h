// Model of the comparison of two runs: rows in sections, the meaning of each difference, and a choice of rows. Pure.
#pragma once
#include <QString>
#include <QStringList>
#include <array>
#include <optional>
#include <vector>

#include "core/comparison/compare.h"
#include "core/comparison/figure_rows.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// A difference is: significant with a direction; significant without one; not distinguishable; measured without an
/// interval; in one run only; between figures of different things; a speed-up that one run does not state; of routers that
/// may be even in both runs.
enum class Meaning { better, worse, differs, same, unknown, only_one, apart, withheld, within_chance };
QString text_of(Meaning meaning);
QString definition_of(Meaning meaning);

struct CompareRow {
  QString path, name, tip;
  QString router;  ///< of a routing figure
  int branch = -1;
  QString a, b, difference;
  std::optional<double> relative;                 ///< (b - a) / |a|
  std::optional<std::array<double, 2>> interval;  ///< of `relative`
  Meaning meaning = Meaning::same;
  bool equal = false;
  ComparedFigure figure;
};

struct CompareSection {
  QString title;
  std::vector<CompareRow> rows;
};

struct CompareModel {
  QString title_a, title_b;
  QStringList warnings;
  std::vector<CompareSection> sections;
  int count(Meaning meaning) const;
};
CompareModel make_compare(const Comparison& comparison, const QString& title_a, const QString& title_b);

enum class CompareShow { differing, significant, all };
struct CompareFilter {
  QString search;  ///< words that must all occur in section, name or path
  CompareShow show = CompareShow::differing;
};
/// A visible line: a section's title, or one of its rows.
struct CompareLine {
  const CompareSection* section = nullptr;
  const CompareRow* row = nullptr;  ///< null: the title
};
std::vector<CompareLine> make_lines(const CompareModel& model, const CompareFilter& filter);

/// The rows that the filter shows.
Table make_compare_table(const CompareModel& model, const CompareFilter& filter = {{}, CompareShow::all});

}  // namespace stormcell::views
