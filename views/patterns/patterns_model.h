// Figures that papers publish, as curves or maps that a picture draws, and their tables. Pure.
#pragma once
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "core/patterns/patterns.h"
#include "core/patterns/saturation.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// In the order of the control.
enum class PatternForm { layers, labels, transitions, coactivation, vocabulary, margins, saturation };
enum class LayerFigure { entropy, gini, imbalance, margin, vocabulary };

/// The figures that were read; null: not yet.
struct PatternValues {
  std::shared_ptr<const PatternFigures> patterns;
  std::shared_ptr<const SaturationFigures> saturation;
};

struct PatternChoice {
  PatternForm form = PatternForm::layers;
  LayerFigure figure = LayerFigure::entropy;
  MarginKind margin = MarginKind::first;
  int router = 0;  ///< index of the router, or of the pair of routers for transitions
};

/// A value at each place of the horizontal axis, with what chance gives there.
struct PatternLine {
  QString name;
  std::vector<std::optional<double>> values;
  std::vector<std::optional<ChanceRange>> chance;
};
/// A square of a map. `tone`: 0 to 1, or -1 to 1 on a scale of two sides.
struct PatternSquare {
  double tone = 0;
  bool beyond = true;  ///< false: within chance, so it is grey
  QString words;       ///< what it is, for a tip
};
struct PatternMap {
  std::vector<QString> rows, columns;
  std::vector<std::optional<PatternSquare>> squares;  ///< [rows, columns] nothing: no cell is there
  bool two_sided = false;
  QString least, most;             ///< figures at the ends of the scale
  std::vector<int> router_of_row;  ///< index of a row's router; empty: all are of one
  bool rows_are_branches = false, columns_are_branches = false;

  size_t index(int row, int column) const {
    return static_cast<size_t>(row) * columns.size() + static_cast<size_t>(column);
  }
};
/// The figure that is drawn: a map if it has rows, else lines.
struct PatternPage {
  QString title;
  QString hint;                 ///< why nothing is drawn, and what would help; empty: something is
  std::vector<QString> places;  ///< of lines
  std::vector<PatternLine> lines;
  bool shares = false;  ///< values of lines are parts of 1
  PatternMap map;
  int router = -1;  ///< that all of it is of; -1: of several
};

PatternPage make_pattern_page(const PatternValues& values, const PatternChoice& choice);
Table make_pattern_table(const PatternValues& values, const PatternChoice& choice);

/// Names of the routers, and of the pairs of routers whose transitions were counted.
std::vector<QString> pattern_router_names(const PatternFigures& figures);
std::vector<QString> pattern_gap_names(const PatternFigures& figures);
/// A line in words, for a tip: the place, the value and what chance gives.
QString line_words(const PatternPage& page, size_t line, size_t place);

}  // namespace stormcell::views
