#include "core/report/report.h"

#include "core/base/listed_words.h"
#include "core/exports/text_output.h"
#include "core/report/html.h"
#include "core/report/sections.h"

namespace stormcell {

namespace {
using namespace report;

/// Which parts lie folded under their title: what details are to most who read, and what another part shows.
enum class Folded : uint8_t { no, yes, beside_graph };

struct Section {
  const char* what;  ///< as the sentence about what is left out calls it; null: nobody misses it
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
  const std::string title = "Stormcell report: " + shortened(data.origin.model, 80);
  out.write(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<meta name=\"generator\" content=\"stormcell " +
      escape(data.origin.version) + "\"/>\n<title>" + title + "</title>\n<style>\n" + page_style() + "</style>\n</head>\n<body>\n<main>\n");
  std::string body = headline(data), lacking;
  for (const Section& section : kSections) {
    std::string html = section.html(data);
    const bool folds =
        section.folded == Folded::yes || (section.folded == Folded::beside_graph && data.graph && !data.graph->edges.empty());
    if (!html.empty() && folds) html = folded(html);
    if (html.empty() && section.what) add_to_list(lacking, section.what, "; ");
    body += html;
  }
  if (!lacking.empty()) body += paragraph("This run has none of these, so the page leaves them out: " + lacking + ".", "note");
  const char* checked = data.checked ? "All of the session was read for this page: nothing of it is damaged."
                                     : "The session was not looked at for damage: stormcell inspect --check does.";
  out.write(keep_units(body) + "</main>\n<footer>" + paragraph(escape(data.origin.line())) + paragraph(checked) +
            "</footer>\n</body>\n</html>\n");
  out.finish();
}

}  // namespace stormcell
