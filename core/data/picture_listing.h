// Lists the pictures of a folder in order, with the labels and targets that the folder gives. Only the beginning of
// each file is read.
#pragma once
#include <string>
#include <vector>

#include "core/data/sequence.h"

namespace stormcell {

/// The files of a folder, or of a folder of folders, one a class.
struct PictureListing {
  std::vector<std::string> names, labels;  ///< labels: one a file, empty: it has none; an empty list: no picture has
  std::vector<std::string> classes;        ///< the folders' names
  std::vector<std::string> empty_classes;  ///< folders without a picture
  bool targets = false;                    ///< they lie in kInputsFolder, and targets beside it
  std::vector<std::string> warnings;
  std::vector<SkippedItem> skipped;
};

/// Files that are no pictures are left out and reported. Error(bad_input) naming the folder if pictures would be left
/// out, or if there is none.
PictureListing list_pictures(const std::string& folder);

}  // namespace stormcell
