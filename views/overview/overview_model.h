// Model of the overview of a run: the texts and figures of its page, and the table with the same content. Pure: no
// widget, no reading.
#pragma once
#include <QString>
#include <QStringList>
#include <array>
#include <optional>
#include <vector>

#include "views/overview/overview_rules.h"

namespace stormcell::views {

enum class Tone { plain, good, bad, warn };

/// One of the page's large figures.
struct HeroFigure {
  QString title, value, note;
  std::optional<double> ratio;  ///< drawn on an axis with its interval if the figure is a ratio
  std::optional<std::array<double, 2>> interval;
  Tone tone = Tone::plain;
  QString basis;  ///< origin of a ratio's estimate
};

/// Whether the result can be trusted.
struct ProofText {
  Tone tone = Tone::plain;  ///< good: verified; bad: failed; warn: not compared; plain: nothing to compare
  QString title;
  QString text;
};

struct FigureRow {
  QString name = {}, note = {}, tip = {};
  QString before = {}, after = {}, change = {};  ///< after, change: empty if one plan was measured
  double before_value = 0, after_value = 0;
  bool apart = false;   ///< of neither plan, so in neither column
  QString remark = {};  ///< replaces bars and change if the ratio is not stated; empty: it is stated, or there is none
};

/// A row of the waterfall: from the speed before this pass to the speed with it.
struct WaterfallRow {
  QString name, reason, value, tip;
  bool applied = false;
  double from = 1;
  std::optional<double> to;
  std::optional<std::array<double, 2>> interval;
  bool left_out = false;
  /// for the speed with it over the speed without it: after a fast pass every row is beyond 1
  Tone tone = Tone::plain;
};

struct RouterRow {
  QString name, text, tip;
  double imbalance = 0;
  bool within_chance = false;  ///< drawn in grey
};

struct OverviewPageModel {
  QString kicker, headline, lead;
  Tone tone = Tone::plain;
  HeroFigure hero;
  ProofText proof;
  QString figures_title, before_title, after_title;  ///< after_title empty: one plan
  std::vector<FigureRow> figures;
  std::vector<WaterfallRow> waterfall;  ///< empty: routers are shown instead
  std::vector<RouterRow> routers;       ///< the most uneven first
  std::vector<NextStep> steps;
  QStringList notes;  ///< warnings, and what is missing
  Tone notes_tone = Tone::warn;
  QString footer;
};

ProofText proof_of(const Situation& situation);
OverviewPageModel make_page(const Situation& situation);

}  // namespace stormcell::views
