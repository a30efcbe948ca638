#include "core/data/picture_listing.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/folder_labels.h"
#include "core/data/sequence_source.h"
#include "core/formats/file_text.h"
#include "core/formats/picture_formats.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

/// The content of a folder, sorted byte by byte, without hidden files.
struct Entries {
  std::vector<std::string> files, folders;
  std::vector<std::string> empty;  ///< those of the folders that hold nothing
  std::string labels;              ///< the file of labels; empty: there is none
};

/// Throws for an entry that may hold pictures, so that none is left out silently.
[[noreturn]] void refuse_entry(const std::string& folder, const std::string& name) {
  bad_input(folder, "holds " + in_quotes(name) + ", which is not a picture that this version reads",
            "keep pictures in it (" + picture_format_names() +
                "), all of them in it, or all in a folder for each class, or in " + std::string(kInputsFolder) +
                " with what they should become in " + std::string(kTargetsFolder));
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

bool holds_nothing(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (!is_hidden(it->path())) return false;
  return !error;
}

void take_labels(const std::string& folder, const std::string& name, std::string& labels) {
  if (!labels.empty())
    bad_input(folder, "holds " + in_quotes(kLabelsFile) + " and " + in_quotes(kPackedLabelsFile), "keep one of them");
  labels = name;
}

Entries entries_of(const std::string& folder) {
  Entries list;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (is_hidden(it->path())) continue;
    if (it->is_directory())
      list.folders.push_back(name);
    else if (name == kLabelsFile || name == kPackedLabelsFile)
      take_labels(folder, name, list.labels);
    else
      list.files.push_back(name);
  }
  if (error) bad_input(folder, "cannot be listed: " + error.message(), "check its permissions");
  std::sort(list.files.begin(), list.files.end());
  std::sort(list.folders.begin(), list.folders.end());
  for (const std::string& name : list.folders)
    if (holds_nothing(fs::path(folder) / name)) list.empty.push_back(name);
  return list;
}

/// Ignores empty folders with a warning.
void ignore_empty(const std::string& folder, Entries& list, std::vector<std::string>& warnings) {
  for (const std::string& name : list.empty) {
    warnings.push_back((fs::path(folder) / name).string() + ": an empty folder, ignored");
    std::erase(list.folders, name);
  }
  list.empty.clear();
}

/// Files beside folders may describe them, but pictures there are refused: they would have no class.
std::vector<SkippedItem> skipped_beside_folders(const std::string& folder, const Entries& list) {
  std::vector<SkippedItem> skipped;
  for (const std::string& file : list.files) {
    if (is_picture((fs::path(folder) / file).string())) refuse_entry(folder, list.folders.front());
    skipped.push_back({file, "is not a picture that this version reads"});
  }
  return skipped;
}

/// The files of a folder in which nothing else may lie.
std::vector<std::string> files_alone(const std::string& folder, std::vector<std::string>& warnings) {
  Entries files = entries_of(folder);
  ignore_empty(folder, files, warnings);
  if (!files.folders.empty() || !files.labels.empty())
    refuse_entry(folder, files.labels.empty() ? files.folders.front() : files.labels);
  return std::move(files.files);
}

/// Pictures whose target is not there are skipped one by one; a target without a picture would not be missed otherwise.
PictureListing inputs_with_targets(const std::string& folder, const Entries& list) {
  if (!list.labels.empty())
    bad_input(folder, "holds " + in_quotes(list.labels) + " and " + std::string(kTargetsFolder), "keep one of them");
  PictureListing found;
  found.targets = true;
  found.skipped = skipped_beside_folders(folder, list);
  const std::vector<std::string> inputs = files_alone((fs::path(folder) / kInputsFolder).string(), found.warnings);
  const std::string of_targets = (fs::path(folder) / kTargetsFolder).string();
  std::vector<std::string> alone;
  for (const std::string& target : files_alone(of_targets, found.warnings))
    if (!std::binary_search(inputs.begin(), inputs.end(), target)) alone.push_back(target);
  if (!alone.empty())
    found.warnings.push_back(of_targets + ": " + counted(std::ssize(alone), "target has", "targets have") +
                             " no picture in " + std::string(kInputsFolder) + "; the first is " +
                             in_quotes(alone.front()));
  for (const std::string& file : inputs) found.names.push_back(std::string(kInputsFolder) + "/" + file);
  return found;
}

/// The classes by turns, each in proportion to its pictures: any part of the data is about as mixed as all of it.
PictureListing in_classes(const std::string& folder, const Entries& list) {
  std::vector<SkippedItem> skipped = skipped_beside_folders(folder, list);
  if (!list.labels.empty())
    bad_input(folder, "holds " + in_quotes(list.labels) + " and folders, and both would give labels",
              "keep one of them");
  PictureListing found;
  found.classes = list.folders, found.skipped = std::move(skipped);
  for (const auto& [there, lacked] :
       {std::pair(kInputsFolder, kTargetsFolder), std::pair(kTargetsFolder, kInputsFolder)})
    if (std::find(list.folders.begin(), list.folders.end(), there) != list.folders.end())
      found.warnings.push_back(folder + ": there is no folder " + std::string(lacked) + " beside " +
                               std::string(there) +
                               ", which is taken for a class, so the pictures are not compared with targets");
  struct Place {
    double turn;  ///< the middle of its part of the class
    std::string name;
    const std::string* label;
  };
  std::vector<Place> places;
  for (const std::string& of : list.folders) {
    const std::string inner = (fs::path(folder) / of).string();
    const std::vector<std::string> files = files_alone(inner, found.warnings);
    if (files.empty()) {
      found.warnings.push_back(inner + ": holds no picture, so the data has none of the class " + in_quotes(of));
      found.empty_classes.push_back(of);
    }
    for (size_t i = 0; i < files.size(); ++i)
      places.push_back({(static_cast<double>(i) + 0.5) / static_cast<double>(files.size()), of + "/" + files[i], &of});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.turn < b.turn; });
  for (Place& place : places) found.names.push_back(std::move(place.name)), found.labels.push_back(*place.label);
  return found;
}

}  // namespace

PictureListing list_pictures(const std::string& folder) {
  Entries list = entries_of(folder);
  PictureListing found;
  const bool has_pictures = std::any_of(list.files.begin(), list.files.end(), [&](const std::string& file) {
    return is_picture((fs::path(folder) / file).string());
  });
  std::vector<std::string> ignored;
  if (has_pictures) ignore_empty(folder, list, ignored);
  const auto holds = [&](std::string_view name) {
    return std::find(list.folders.begin(), list.folders.end(), name) != list.folders.end();
  };
  const bool targets = holds(kInputsFolder) && holds(kTargetsFolder);
  if (targets && list.folders.size() > 2)
    bad_input(folder,
              "holds " + std::string(kInputsFolder) + " and " + std::string(kTargetsFolder) + " beside other folders",
              "keep only those two; a .safetensors file can say which pixels are not judged");
  if (!list.folders.empty()) found = targets ? inputs_with_targets(folder, list) : in_classes(folder, list);
  if (found.names.empty() && list.files.empty())
    bad_input(folder, "holds no picture", "a folder of pictures holds files " + picture_format_names());
  if (!list.folders.empty()) return found;
  if (!list.labels.empty()) {
    FolderLabels read = read_folder_labels((fs::path(folder) / list.labels).string(), list.files);
    for (const std::string& file : list.files) found.labels.push_back(read.of[file]);
    found.warnings = std::move(read.warnings);
  }
  found.warnings.insert(found.warnings.begin(), ignored.begin(), ignored.end());
  found.names = std::move(list.files);
  return found;
}

}  // namespace stormcell
