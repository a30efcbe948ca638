#include "core/base/counted.h"
#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/summary/exit_target.h"
#include "core/summary/quality_text.h"

namespace stormcell::report {
namespace {

Table plans_table(const QualityFigures& q, bool verified) {
  std::vector<std::string> head = {"plan", escape(q.measure), "95 % interval", noun_for(2, q.item) + " judged"};
  if (!q.counts.empty()) head.push_back("of these " + escape(q.counts));
  Table table(escape(quality_title(q)) + " of the plans", head);
  const auto line = [&](const char* name, const std::optional<PlanQuality>& p) {
    if (!p) return;
    std::vector<std::string> row = {
        name, escape(is_judged(*p) ? quality_value_text(q.unit, p->value) : plan_quality_text(q, *p)),
        p->value_ci95 && is_judged(*p) ? escape(quality_value_text(q.unit, (*p->value_ci95)[0])) + " to " +
                                             escape(quality_value_text(q.unit, (*p->value_ci95)[1]))
                                       : "–",
        count(p->items)};
    if (!q.counts.empty()) row.push_back(p->counted ? count(*p->counted) : "–");
    table.row(row);
  };
  line("baseline", q.baseline);
  line(verified ? "optimised" : "optimised, not verified", q.optimized);
  return table;
}

std::string groups_table(const QualityFigures& q) {
  if (q.groups.size() < 2 || q.items < kFewestJudged) return {};
  std::vector<std::string> head = {"class", escape(quality_group_items_text(q))};
  if (q.baseline) head.emplace_back("baseline");
  if (q.optimized) head.emplace_back("optimised");
  Table table(escape(quality_title(q)) + " by class", head);
  const auto value = [&](const std::optional<double>& v) {
    return v ? escape(quality_value_text(q.unit, *v)) : std::string("–");
  };
  for (const GroupQuality& g : q.groups) {
    std::vector<std::string> row = {shortened(g.name, 60), count(g.items)};
    if (q.baseline) row.push_back(value(g.baseline));
    if (q.optimized) row.push_back(value(g.optimized));
    table.row(row);
  }
  return table.details();
}

}  // namespace

std::string quality_section(const ReportData& d) {
  if (!d.figures.quality) return {};
  const QualityFigures& q = *d.figures.quality;
  std::string text = "How good the answers are beside what the data say, a figure of its own beside speed.";
  if (const std::string change = quality_change_text(q); !change.empty())
    text += " Item by item, " + escape(change) + ".";
  if (d.figures.exit_target) text += " All of it " + escape(found_thresholds_text(*d.figures.exit_target)) + ".";
  return section("quality", "Task quality: " + escape(q.measure),
                 paragraph(text) + plans_table(q, !d.figures.verified || d.trusted()).html() + groups_table(q) +
                     paragraph(d.measured() + " Counted " + escape(quality_source_text(q)) + ".", "note"));
}

}  // namespace stormcell::report
