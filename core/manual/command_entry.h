// A program's commands and options as values. Manual pages and completion are written from them.
#pragma once
#include <string>
#include <vector>

namespace stormcell {

struct OptionEntry {
  std::vector<std::string> names = {};  ///< "-o", "--json"; empty: an argument, which `value` names
  std::string value = {};               ///< the name of its value in the help, "FILE|-"; empty: a flag
  std::string help = {};
  std::string standard = {};            ///< the default; empty: the help says it, or there is none
  std::vector<std::string> words = {};  ///< values that completion offers
  bool files = false;                   ///< completion offers files too
  bool commas = false;                  ///< several words, with commas between
};

struct CommandEntry {
  std::string name = {};         ///< "stormcell-studio", or a verb: "optimize"
  std::string usage = {};        ///< what follows the name: "MODEL --data DATA [options]"
  std::string description = {};  ///< a clause that begins with a verb: "makes the model faster"
  std::vector<OptionEntry> arguments = {}, options = {};
  /// Text behind the options. A line that begins with two blanks belongs to the line above; "  term: text" is a row.
  std::string footer = {};
};

}  // namespace stormcell
