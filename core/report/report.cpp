#include "core/report/report.h"

#include "core/exports/text_output.h"
#include "core/report/html.h"
#include "core/report/sections.h"

namespace stormcell {

std::string report::left_out(const std::string& page) {
  constexpr std::pair<const char*, const char*> kParts[] = {
      {"passes", "passes"}, {"loads", "routing decisions"},           {"labels", "labels"},
      {"memory", "memory"}, {"operators", "time by operator"},        {"transitions", "transitions between routers"},
      {"guards", "guards"}, {"proof", "a comparison with the oracle"}};
  std::string list;
  for (const auto& [id, name] : kParts)
    if (page.find("<section id=\"" + std::string(id) + "\"") == std::string::npos) list += (list.empty() ? "" : "; ") + std::string(name);
  return list.empty() ? "" : paragraph("This run has none of these, so the page leaves them out: " + list + ".", "note");
}

void write_report(const std::string& session, const std::string& output) {
  using namespace report;
  TextOutput out(output);
  const ReportData data = read_report_data(session);
  const std::string title = "Stormcell report: " + shortened(data.origin.model, 80);
  out.write(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<meta name=\"generator\" content=\"stormcell " +
      escape(data.origin.version) + "\"/>\n<title>" + title + "</title>\n<style>\n" + page_style() + "</style>\n</head>\n<body>\n<main>\n");
  std::string body = headline(data);
  for (const auto part : {passes_section, loads_section, labels_section, transitions_section, memory_section, operators_section,
                          guards_section, proof_section, settings_section})
    body += part(data);
  const char* checked = data.checked ? "All of the session was read for this page: nothing of it is damaged."
                                     : "The session was not looked at for damage: stormcell inspect --check does.";
  out.write(body + left_out(body) + "</main>\n<footer>" + paragraph(escape(data.origin.line())) + paragraph(checked) +
            "</footer>\n</body>\n</html>\n");
  out.finish();
}

}  // namespace stormcell
