// Labels of a folder of pictures: labels.csv beside them.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// The names of the file of labels; it is not a picture.
inline constexpr std::string_view kLabelsFile = "labels.csv", kPackedLabelsFile = "labels.csv.gz";

/// Label by picture's name.
struct FolderLabels {
  std::map<std::string, std::string, std::less<>> of;
  /// pictures without a line, lines without a picture or a label: the rest of the folder goes on
  std::vector<std::string> warnings;
};

/// Reads labels.csv, packed with gzip or not. Each line is NAME,LABEL for one picture; the label is a number or a
/// class. The first line may be `file,label` or the like (`filename,class`). Fields may be in double quotes; a
/// semicolon or a tab may separate them. Error(bad_input) names a line that has another form or names a picture twice.
FolderLabels read_folder_labels(const std::string& file, const std::vector<std::string>& pictures);

}  // namespace stormcell
