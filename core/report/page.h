// The frame of a page.
#pragma once
#include <string>

namespace stormcell::report {

/// A whole document; `title`, `body` and `footer` are HTML, `version` is of the program.
std::string page(const std::string& title, const std::string& version, const std::string& body,
                 const std::string& footer);

}  // namespace stormcell::report
