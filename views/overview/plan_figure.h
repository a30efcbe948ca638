// The figures of one plan, for the overview's page and its table. Pure.
#pragma once
#include <QString>
#include <optional>
#include <span>

#include "core/summary/results.h"

namespace stormcell::views {

struct PlanFigure {
  const char *name, *note, *tip;
  std::optional<double> (*value)(const PlanFigures&);
  QString (*text)(double);
  const char* unit;
  bool is_compared = true;  ///< false: shown for both plans and never divided
};
std::span<const PlanFigure> plan_figures();
/// Name of the figure for these data: rates count pictures if the items are pictures.
struct PlanFigureName {
  QString name, tip, unit;
};
PlanFigureName name_of(const PlanFigure& figure, const RunSummaryFigures& of);

}  // namespace stormcell::views
