// Recorders: Python files for other programs, which write a routing trace that import reads. They are in
// resources/recorders.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct RecorderScript {
  std::string name;     ///< "transformers-5"
  std::string summary;  ///< the first line of the file's text
};

/// All recorders, by name. Error(bad_input) if the folder is missing or holds none.
std::vector<RecorderScript> recorder_scripts();
/// The file's content. Error(bad_input) if there is no recorder of this name; the nearest names are suggested.
std::string recorder_script(std::string_view name);

}  // namespace stormcell
