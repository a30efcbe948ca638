#include "core/manual/manual_page.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace stormcell {
namespace {

/// Text as roff reads it: a hyphen stays the character that one types, and no line becomes a request.
std::string roff(std::string_view text) {
  std::string out;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    at_begin = c == '\n';
  }
  return out;
}

/// As an argument of a request.
std::string quoted_roff(std::string_view text) {
  std::string out = "\"";
  for (const char c : roff(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string slanted(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

void add_section(std::string& out, std::string_view title) { out += ".SH " + quoted_roff(title) + "\n"; }

std::string help_of(const OptionEntry& option) {
  return roff(option.help) + (option.standard.empty() ? "" : " (default: " + roff(option.standard) + ")");
}

void add_option(std::string& out, const OptionEntry& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty()) head += (head.empty() ? "" : " ") + slanted(option.value);
  const std::string help = help_of(option);
  out += ".TP\n" + head + "\n" + (help.empty() ? "\\&" : help) + "\n";
}

void add_footer(std::string& out, const std::string& footer) {
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (!line.starts_with("  ")) {
      out += ".PP\n" + roff(line) + "\n";
      continue;
    }
    const std::string row = line.substr(line.find_first_not_of(' '));
    const size_t colon = row.find(": ");
    // A line that goes on with the one above has no term.
    if (colon == std::string::npos || row.substr(0, colon).find(' ') != std::string::npos)
      out += ".br\n" + roff(row) + "\n";
    else
      out += ".TP\n" + bold(row.substr(0, colon)) + "\n" + roff(row.substr(colon + 2)) + "\n";
  }
}

void add_rows(std::string& out, const ManualSection& section) {
  add_section(out, section.title);
  if (!section.text.empty()) out += roff(section.text) + "\n";
  for (const auto& [term, text] : section.rows) out += ".TP\n" + bold(term) + "\n" + roff(text) + "\n";
}

}  // namespace

std::string manual_text(const ManualPage& page) {
  const CommandEntry& entry = page.entry;
  std::string out =
      ".TH " + quoted_roff(upper_case(page.title)) + " 1 \"\" " + quoted_roff(page.version) + " \"Stormcell\"\n";
  // Words such as paths are never hyphenated, and the right edge stays ragged: options are long.
  out += ".nh\n.ad l\n";
  add_section(out, "NAME");
  out += roff(page.title) + " \\- " + roff(entry.description) + "\n";
  add_section(out, "SYNOPSIS");
  out += bold(page.command) + (entry.usage.empty() ? "" : " " + slanted(entry.usage)) + "\n";
  if (!entry.arguments.empty()) {
    add_section(out, "ARGUMENTS");
    for (const OptionEntry& argument : entry.arguments) add_option(out, argument);
  }
  if (!entry.options.empty()) {
    add_section(out, "OPTIONS");
    for (const OptionEntry& option : entry.options) add_option(out, option);
  }
  if (!entry.footer.empty()) {
    add_section(out, "VALUES");
    add_footer(out, entry.footer);
  }
  for (const ManualSection& section : page.sections) add_rows(out, section);
  if (!page.see_also.empty()) {
    add_section(out, "SEE ALSO");
    for (const std::string& other : page.see_also)
      out += ".BR " + roff(other) + " (1)" + (&other == &page.see_also.back() ? "" : ",") + "\n";
  }
  return out;
}

}  // namespace stormcell
