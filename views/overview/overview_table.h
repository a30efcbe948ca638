// The overview's table twin. Pure.
#pragma once
#include "views/frame/table.h"
#include "views/overview/overview_rules.h"

namespace stormcell::views {

Table make_overview_table(const Situation& situation);

}  // namespace stormcell::views
