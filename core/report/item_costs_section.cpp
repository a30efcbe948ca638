#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/summary/item_costs_text.h"

namespace stormcell::report {

std::string item_costs_section(const ReportData& d) {
  if (!d.figures.item_costs) return {};
  const ItemCostFigures& c = *d.figures.item_costs;
  Table figures("Operations of the baseline's routing, in the model's own order", {"", ""}, 2);
  for (const auto& [title, text] : item_costs_lines(d.figures)) figures.row({escape(title), escape(text)});
  std::string groups;
  if (const auto rows = item_costs_groups(c); !rows.empty()) {
    Table table("By class, of what all branches would take", rows.front());
    for (size_t r = 1; r < rows.size(); ++r) {
      std::vector<std::string> row = {shortened(rows[r].front(), 60)};
      for (size_t column = 1; column < rows[r].size(); ++column) row.push_back(escape(rows[r][column]));
      table.row(row);
    }
    groups = rows.size() > 20 ? table.details() : table.html();
  }
  return section("item-costs", "What each " + escape(c.item) + " cost",
                 paragraph("What the routers spare, item by item: everything that its cells went through, beside every "
                           "cell through every "
                           "branch, which is the plan of --dense.") +
                     figures.html() + groups + paragraph(escape(item_costs_source_text(d.figures)) + ".", "note"));
}

}  // namespace stormcell::report
