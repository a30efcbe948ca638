#include "core/experiment/report/report.h"

#include "core/experiment/export_output.h"
#include "core/experiment/report/html.h"
#include "core/experiment/report/sections.h"

namespace stormcell {

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
  out.write(headline(data));
  for (const auto part : {passes_section, loads_section, labels_section, transitions_section, memory_section, operators_section,
                          guards_section, proof_section, settings_section})
    out.write(part(data));
  out.write("</main>\n<footer>" + paragraph(escape(data.origin.line())) + "</footer>\n</body>\n</html>\n");
  out.finish();
}

}  // namespace stormcell
