// What each item cost, in words and numbers, one way for command line, report and window.
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
/// Of those without the class beside those with it: "25.5 % [24.5, 26.6] fewer"; "4.1 % more"; empty: they were not
/// compared.
std::string fewer_text(const GroupSpent& group);
/// What a network that routes is about, of a run: "dynamic-routing-street spends 25.5 % fewer operations on pictures
/// without person than on those with it". Tells no difference that its interval does not, or that only few items show.
/// Empty: there is nothing to say, or nothing is spared.
std::string item_costs_headline(const RunSummaryFigures& figures);
/// The same with all that belongs to it: "spends 25.5 % [24.5, 26.6] fewer operations on the 824 pictures without
/// person than on the 424 with, and on average 54.2 % of what all branches would take". Empty where the headline is.
std::string item_costs_sentence(const RunSummaryFigures& figures);
/// The figures, a title and a text each; of groups those that fit in. Of a run without them nothing, as of tiles.
std::vector<std::pair<std::string, std::string>> item_costs_lines(const RunSummaryFigures& figures);
/// A figure on its own, and what is to be known of it.
struct FigureTile {
  std::string title, value, more;
};
/// Of a run with exits what these need, which the page's first line tells: the same of all branches is of another plan
/// where it is optimised.
std::vector<FigureTile> item_costs_tiles(const RunSummaryFigures& figures);
/// All groups, of what all branches would take; the first row names the columns.
std::vector<std::vector<std::string>> item_costs_groups(const ItemCostFigures& costs);
/// How they were come by: "counted in the model's own order by what the cells of each picture went through, padding
/// left out; ...". Of a run whose exits are counted in another order this is said, too. The run has item costs.
std::string item_costs_source_text(const RunSummaryFigures& figures);

}  // namespace stormcell
