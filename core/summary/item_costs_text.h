// The cost of each item in words and numbers, one way for command line, report and window.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// "54.2 % [53.4, 55.1]".
std::string spent_text(const ItemsSpent& spent);
/// "9.52 [9.31, 9.73]".
std::string parts_text(const PartsComputed& parts);
/// The items without the class beside those with it: "25.5 % [24.5, 26.6] fewer"; "4.1 % more"; empty: they were not
/// compared.
std::string fewer_text(const GroupSpent& group);
/// The headline of a network that routes: "dynamic-routing-street spends 25.5 % fewer operations on pictures without
/// person than on those with it". Reports no difference that its interval does not show, or that only few items show.
/// Empty: there is nothing to say, or nothing is spared.
std::string item_costs_headline(const RunSummaryFigures& figures);
/// The same with all that belongs to it: "spends 25.5 % [24.5, 26.6] fewer operations on the 824 pictures without
/// person than on the 424 with, and on average 54.2 % of what all branches would take". Empty where the headline is.
std::string item_costs_sentence(const RunSummaryFigures& figures);
/// The figures, a title and a text each, with as many groups as fit in; none without item costs, as of tiles.
std::vector<std::pair<std::string, std::string>> item_costs_lines(const RunSummaryFigures& figures);
/// A figure on its own, with what a reader has to know of it.
struct FigureTile {
  std::string title, value, more;
};
/// Tiles of a run. With exits they show what the exits need, as the page's first line does: the figure of all branches
/// belongs to another plan if the run is optimised.
std::vector<FigureTile> item_costs_tiles(const RunSummaryFigures& figures);
/// All groups as shares of what all branches would take; the first row names the columns.
std::vector<std::vector<std::string>> item_costs_groups(const ItemCostFigures& costs);
/// The source of the figures: "counted in the model's own order by what the cells of each picture went through, padding
/// left out; ...". If the exits are counted in another order, it says so, too. The run has item costs.
std::string item_costs_source_text(const RunSummaryFigures& figures);

}  // namespace stormcell
