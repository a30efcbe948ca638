// Which files of a folder are its pictures, in which order, and what the folder says of them: nothing of a file is read
// but its beginning.
#pragma once
#include <string>
#include <vector>

#include "core/data/sequence.h"

namespace stormcell {

/// The files of a folder, or of a folder of folders, one a class.
struct PictureListing {
  std::vector<std::string> names, labels;  ///< labels: one a file, empty: it has none; an empty list: no picture has
  std::vector<std::string> classes;        ///< the folders' names
  std::vector<std::string> empty_classes;  ///< those in which no picture lies
  bool targets = false;                    ///< they lie in kInputsFolder, and targets beside it
  std::vector<std::string> warnings;
  std::vector<SkippedItem> skipped;
};

/// What nobody would miss is left out and said; Error(bad_input) that names the folder where something would be, or no
/// file is there.
PictureListing list_pictures(const std::string& folder);

}  // namespace stormcell
