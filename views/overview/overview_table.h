// The overview's table twin, and the figures of one plan that page and table show. Pure.
#pragma once
#include <span>

#include "views/kit/table.h"
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

Table make_overview_table(const Situation& situation);

}  // namespace stormcell::views
