#include "core/report/page.h"

#include "core/report/html.h"

namespace stormcell::report {

std::string page(const std::string& title, const std::string& version, const std::string& body,
                 const std::string& footer) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" "
         "content=\"light dark\"/>\n"
         "<meta name=\"generator\" content=\"stormcell " +
         escape(version) + "\"/>\n<title>" + title + "</title>\n<style>\n" + page_style() +
         "</style>\n</head>\n<body>\n<main>\n" + keep_units(body) + "</main>\n<footer>" + footer +
         "</footer>\n</body>\n</html>\n";
}

}  // namespace stormcell::report
