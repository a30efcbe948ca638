#include "core/data/folder_labels.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

constexpr size_t kMostBytes = size_t{1} << 28;

/// Takes one field from the front of `line` with the comma behind it; in quotes a quote is written twice.
std::string take_field(std::string_view& line) {
  std::string field;
  if (!line.starts_with('"')) {
    field = line.substr(0, line.find(','));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
    return field;
  }
  size_t at = 1;
  for (; at < line.size() && !(line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')); ++at) {
    at += line[at] == '"';
    field += line[at];
  }
  line.remove_prefix(std::min(line.size(), at + 2));
  return field;
}

/// What others write above such a table. No picture is lost: none is called so.
bool is_heading(std::string_view name, std::string_view label, const std::vector<std::string>& pictures) {
  constexpr std::array<std::string_view, 6> kLabel = {"label", "Label", "class", "Class", "category", "target"};
  return std::find(kLabel.begin(), kLabel.end(), label) != kLabel.end() && !std::binary_search(pictures.begin(), pictures.end(), name);
}

std::string_view without_return(std::string_view line) { return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line; }

/// A line whose picture, or whose label, is not there.
struct LoneLine {
  int64_t number = 0;
  std::string picture;
};

void warn_of(FolderLabels& labels, const std::string& file, const std::string& lacked, const std::vector<LoneLine>& lines) {
  if (lines.empty()) return;
  labels.warnings.push_back(file + ": " + counted(static_cast<int64_t>(lines.size()), "line has", "lines have") + " " + lacked +
                            "; the first is line " + std::to_string(lines[0].number) + ", " + in_quotes(lines[0].picture));
}
void warn_of(FolderLabels& labels, const std::string& file, const std::vector<std::string>& pictures) {
  if (pictures.empty()) return;
  labels.warnings.push_back(file + ": " + counted(static_cast<int64_t>(pictures.size()), "picture has", "pictures have") +
                            " no line, and so no label; the first is " + in_quotes(pictures[0]));
}

}  // namespace

FolderLabels read_folder_labels(const std::string& folder, const std::vector<std::string>& pictures) {
  const std::string file = folder + (folder.ends_with('/') ? "" : "/") + std::string(kLabelsFile);
  const std::string text = read_file_text(file, kMostBytes);
  if (find_invalid_utf8(text) != std::string::npos) bad_input(file, "is not UTF-8", "save it as UTF-8");
  FolderLabels labels;
  std::vector<LoneLine> lines_alone, without_label;
  std::vector<std::string> pictures_alone;
  std::set<std::string, std::less<>> told;
  int64_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = without_return(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), rest.find('\n') == std::string_view::npos ? rest.size() : rest.find('\n') + 1));
    ++number;
    if (line.empty()) continue;
    const std::string_view whole = line;
    const std::string name = take_field(line);
    // A comma with nothing behind it, which an open quote could have swallowed.
    const bool is_unlabelled = line == "\"\"" || (line.empty() && whole.ends_with(whole.starts_with('"') ? "\"," : ","));
    const std::string label = take_field(line);
    if (name.empty() || !line.empty() || (label.empty() && !is_unlabelled))
      bad_input(file, "line " + std::to_string(number) + " is " + in_quotes(whole), "write NAME,LABEL on each line");
    if (number == 1 && is_heading(name, label, pictures)) continue;
    if (!std::binary_search(pictures.begin(), pictures.end(), name))
      lines_alone.push_back({number, name});
    else if (!told.insert(name).second)
      bad_input(file, "line " + std::to_string(number) + " names " + in_quotes(name) + " a second time", "give each picture one label");
    else if (is_unlabelled)
      without_label.push_back({number, name});
    else
      labels.of.emplace(name, label);
  }
  for (const std::string& picture : pictures)
    if (!told.contains(picture)) pictures_alone.push_back(picture);
  warn_of(labels, file, "no picture", lines_alone);
  warn_of(labels, file, "no label", without_label);
  warn_of(labels, file, pictures_alone);
  return labels;
}

}  // namespace stormcell
