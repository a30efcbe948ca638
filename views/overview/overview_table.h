// The overview's table twin, and the figures of one plan that page and table show. Pure.
#pragma once
#include <span>

#include "views/frame/table.h"
#include "views/overview/overview_rules.h"

namespace stormcell::views {

struct PlanFigure {
  const char *name, *note, *tip;
  std::optional<double> (*value)(const PlanFigures&);
  QString (*text)(double);
  const char* unit;
  bool is_compared = true;  ///< false: shown for both plans and never divided
};
std::span<const PlanFigure> plan_figures();
/// What the figure is called for these data: rates count pictures where the items are pictures.
struct PlanFigureName {
  QString name, tip, unit;
};
PlanFigureName name_of(const PlanFigure& figure, const RunSummaryFigures& of);

Table make_overview_table(const Situation& situation);

}  // namespace stormcell::views
