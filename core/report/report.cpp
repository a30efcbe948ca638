#include "core/report/report.h"

#include "core/base/listed_words.h"
#include "core/exports/text_output.h"
#include "core/report/html.h"
#include "core/report/page.h"
#include "core/report/sections.h"

namespace stormcell {

namespace {
using namespace report;

/// Parts that are folded under their title: details for most readers, and parts that another one shows too.
enum class Folded : uint8_t { no, yes, beside_graph };

struct Section {
  const char* what;  ///< noun in the sentence on omitted parts; null: it is not missed
  std::string (*html)(const ReportData& data);
  Folded folded = Folded::no;
};
/// The page below its headline, in its order.
constexpr Section kSections[] = {
    {nullptr, quality_section},
    {nullptr, exits_section},
    {nullptr, item_costs_section},
    {nullptr, pictures_section},
    {"passes", passes_section},
    {"routing decisions", loads_section, Folded::beside_graph},
    {"labels", labels_section, Folded::yes},
    {nullptr, graph_section},
    {"transitions between routers", transitions_section, Folded::yes},
    {nullptr, placements_section},
    {"memory", memory_section, Folded::yes},
    {nullptr, budget_section, Folded::yes},
    {"time by operator", operators_section, Folded::yes},
    {"guards", guards_section, Folded::yes},
    {"a comparison with the oracle", proof_section, Folded::yes},
    {nullptr, settings_section, Folded::yes},
};

}  // namespace

void write_report(const std::string& session, const std::string& output) {
  TextOutput out(output);
  const ReportData data = read_report_data(session);
  std::string body = headline(data), lacking;
  for (const Section& section : kSections) {
    std::string html = section.html(data);
    const bool folds = section.folded == Folded::yes ||
                       (section.folded == Folded::beside_graph && data.graph && !data.graph->edges.empty());
    if (!html.empty() && folds) html = folded(html);
    if (html.empty() && section.what) add_to_list(lacking, section.what, "; ");
    body += html;
  }
  if (!lacking.empty())
    body += paragraph("This run has none of these, so the page leaves them out: " + lacking + ".", "note");
  const char* checked = data.checked ? "All of the session was read for this page: nothing of it is damaged."
                                     : "The session was not looked at for damage: stormcell inspect --check does.";
  out.write(page("Stormcell report: " + shortened(data.origin.model, 80), data.origin.version, body,
                 paragraph(escape(data.origin.line())) + paragraph(checked)));
  out.finish();
}

}  // namespace stormcell
