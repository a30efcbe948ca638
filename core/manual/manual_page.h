// Manual pages in the language of man(7).
#pragma once
#include <string>
#include <vector>

#include "core/manual/command_entry.h"

namespace stormcell {

/// A section that no option has: files, exit status. `rows`: a term and its text each.
struct ManualSection {
  std::string title = {}, text = {};
  std::vector<std::pair<std::string, std::string>> rows = {};
};

struct ManualPage {
  std::string title;    ///< "stormcell-optimize": the name of the page
  std::string version;  ///< "Stormcell 0.2.0"
  std::string command;  ///< what is typed: "stormcell optimize"
  CommandEntry entry;
  std::vector<ManualSection> sections = {};  ///< between options and see_also
  std::vector<std::string> see_also = {};    ///< other pages of section 1
};

/// The page as text, section 1.
std::string manual_text(const ManualPage& page);

}  // namespace stormcell
