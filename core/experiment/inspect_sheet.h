// The sheet of whatever a user names, before anything is opened.
#pragma once
#include <optional>
#include <string>

#include "core/summary/sheet_figures.h"

namespace stormcell {

struct SheetAnswer {
  std::optional<ModelSheet> sheet;  ///< nothing: the name is no file or folder with a sheet, or opening it says more
  std::string model;                ///< argument for open_model(): the folder of a named file
};
/// Reads headers alone. A range of tokens a second needs the ceilings of the processor, which are measured for a
/// fraction of a second where `measure` is true. Error(bad_input): a header that is damaged, parts that are missing, a
/// folder with several models.
SheetAnswer find_sheet(const std::string& name, bool measure = true);

/// The sheet of a model that was opened from `path`, for its JSON. Empty if it has a fault, which was reported before.
std::optional<ModelSheet> sheet_of_opened(const std::string& path);

}  // namespace stormcell
