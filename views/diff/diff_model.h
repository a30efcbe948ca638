// Model of the same tokens in two recordings: the map of routers and positions, the verdict in words, bars, tables.
// Pure.
#pragma once
#include <QString>
#include <optional>
#include <vector>

#include "core/difference/difference.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// A square of the map: a router and a group of positions, as indexes into the figures.
struct DiffPlace {
  int layer = -1, group = -1;
  bool there() const { return layer >= 0 && group >= 0; }
  bool operator==(const DiffPlace&) const = default;
};

int groups_of(const DifferenceFigures& figures);
/// The share of the cells whose choices differ; nothing: no cell of both recordings is there.
std::optional<double> share_at_place(const DifferenceFigures& figures, DiffPlace place);
/// The end of the map's scale: the largest share; 1 if nothing differs.
double end_of_scale(const DifferenceFigures& figures);
/// The place with the largest share, the first of several.
DiffPlace strongest_place(const DifferenceFigures& figures);
/// The place of a position at the router of this name in either recording; without a position the router's strongest
/// one.
DiffPlace place_of(const DifferenceFigures& figures, const QString& router, std::optional<int32_t> position);
/// The cells that are listed of a place.
std::vector<const DiffSample*> samples_at(const DifferenceFigures& figures, DiffPlace place);

/// "position 4", "positions 8 to 15".
QString positions_text(const DifferenceFigures& figures, int group);
/// A place with its figures, for a tip.
QString describe(const DifferenceFigures& figures, DiffPlace place);
/// "“the”", "#17", or a dash where nothing is recorded.
QString token_text(int32_t token, const std::string& text);
/// "3, 17".
QString choices_text(const std::vector<int32_t>& branches);
enum class DiffSide : uint8_t { a, b };
/// "3 (1.25), 17 (0.98)" with the scores of that side; without them as choices_text().
QString choices_with_scores(const DiffSample& sample, DiffSide side);
/// A line of the list: the cell, and the score of each branch of either side in both.
QString describe_cell(const DifferenceFigures& figures, const DiffSample& sample);
/// Short names of the routers.
std::vector<QString> layer_names(const DifferenceFigures& figures);

struct DiffWords {
  QString verdict, evidence;
  QString next;    ///< empty: nothing is left to check
  QString counts;  ///< what differs, where a difference begins, what is a near tie, what is a consequence
  QString rest;    ///< further causes, and what cannot be told; empty: nothing
};
DiffWords words_of(const DifferenceFigures& figures);

/// One bar of the histogram, both as shares of their sums.
struct MarginBar {
  double from = 0;
  int64_t all = 0, first = 0;
  double of_all = 0, of_first = 0;
};
/// Neighbouring bins are joined until at most `most` bars are left.
std::vector<MarginBar> margin_bars(const DiffMargins& margins, int most);

struct MovedExpert {
  QString router;
  int32_t branch = 0;
  int64_t gained = 0, lost = 0;
  int64_t net() const { return gained - lost; }
};
/// Those of one router, or of all for -1; those that move most first.
std::vector<MovedExpert> moved_experts(const DifferenceFigures& figures, int layer = -1);

enum class DiffTable { map, sequences, margins, experts, cells, verdict };
Table make_diff_table(const DifferenceFigures& figures, DiffTable which);

}  // namespace stormcell::views
