#include "core/report/report.h"

#include "core/base/listed_words.h"
#include "core/exports/text_output.h"
#include "core/report/html.h"
#include "core/report/sections.h"

namespace stormcell {

namespace {
using namespace report;

struct Section {
  const char* what;  ///< as the sentence about what is left out calls it; null: nobody misses it
  std::string (*html)(const ReportData& data);
};
/// The page below its headline, in its order.
constexpr Section kSections[] = {
    {nullptr, quality_section},
    {nullptr, exits_section},
    {nullptr, item_costs_section},
    {nullptr, pictures_section},
    {"passes", passes_section},
    {"routing decisions", loads_section},
    {"labels", labels_section},
    {nullptr, graph_section},
    {"transitions between routers", transitions_section},
    {nullptr, placements_section},
    {"memory", memory_section},
    {nullptr, budget_section},
    {"time by operator", operators_section},
    {"guards", guards_section},
    {"a comparison with the oracle", proof_section},
    {nullptr, settings_section},
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
    const std::string html = section.html(data);
    if (html.empty() && section.what) add_to_list(lacking, section.what, "; ");
    body += html;
  }
  if (!lacking.empty()) body += paragraph("This run has none of these, so the page leaves them out: " + lacking + ".", "note");
  const char* checked = data.checked ? "All of the session was read for this page: nothing of it is damaged."
                                     : "The session was not looked at for damage: stormcell inspect --check does.";
  out.write(body + "</main>\n<footer>" + paragraph(escape(data.origin.line())) + paragraph(checked) + "</footer>\n</body>\n</html>\n");
  out.finish();
}

}  // namespace stormcell
