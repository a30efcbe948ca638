#include "core/data/folder_labels.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/delimited_text.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/gzip_file.h"
#include "core/formats/table_number.h"

namespace stormcell {
namespace {

constexpr size_t kMostBytes = size_t{1} << 28;

/// Other programs write a heading above such a table. A picture with that name keeps its line.
bool is_heading(std::string_view name, std::string_view label, const std::vector<std::string>& pictures) {
  constexpr std::array<std::string_view, 6> kLabel = {"label", "Label", "class", "Class", "category", "target"};
  return std::find(kLabel.begin(), kLabel.end(), label) != kLabel.end() &&
         !std::binary_search(pictures.begin(), pictures.end(), name);
}

/// Tables that have fractions in other columns also write labels as 3.0. If every label is a whole number, 3.0 means 3.
void write_whole(FolderLabels& labels) {
  const auto is_whole = [](const auto& label) { return whole_in(label.second).has_value(); };
  if (!std::all_of(labels.of.begin(), labels.of.end(), is_whole)) return;
  for (auto& [picture, label] : labels.of)
    if (label.find_first_of(".eE") != std::string::npos) label = std::to_string(*whole_in(label));
}

/// True for a label of only digits and commas: spreadsheets write 1,5 and 1,084. Such a class name is less likely than
/// a mistake.
bool is_number_with_comma(std::string_view label) {
  return label.find(',') != std::string_view::npos &&
         label.find_first_not_of("0123456789,.+-") == std::string_view::npos &&
         label.find_first_of("0123456789") != std::string_view::npos;
}

void check_utf8(std::string_view text, const std::string& file) {
  const size_t at = find_invalid_utf8(text);
  if (at == std::string::npos) return;
  const auto line = std::count(text.begin(), text.begin() + at, '\n') + 1;
  bad_input(file + ": line " + std::to_string(line), "is not UTF-8",
            "save it as UTF-8: iconv -f WINDOWS-1252 -t UTF-8 " + shell_word(file) + " > NEW");
}

/// A line whose picture, or whose label, is not there.
struct LoneLine {
  int64_t number = 0;
  std::string picture;
};

void warn_of(FolderLabels& labels, const std::string& file, const std::string& lacked,
             const std::vector<LoneLine>& lines) {
  if (lines.empty()) return;
  labels.warnings.push_back(file + ": " + counted(std::ssize(lines), "line has", "lines have") + " " + lacked +
                            "; the first is line " + std::to_string(lines[0].number) + ", " +
                            in_quotes(lines[0].picture));
}
void warn_of(FolderLabels& labels, const std::string& file, const std::vector<std::string>& pictures) {
  if (pictures.empty()) return;
  labels.warnings.push_back(file + ": " + counted(std::ssize(pictures), "picture has", "pictures have") +
                            " no line, and so no label; the first is " + in_quotes(pictures[0]));
}

}  // namespace

FolderLabels read_folder_labels(const std::string& file, const std::vector<std::string>& pictures) {
  const std::string text = read_unpacked_text(file, kMostBytes);
  if (!text.empty()) refuse_other_kind(file, text, FileUse::labels);
  constexpr const char* kAdvice = "write NAME,LABEL on each line";
  DelimitedText table(text, file, TableComments::none, kAdvice), rows(text, file, TableComments::none, kAdvice);
  check_utf8(text, file);
  // A row with a picture of the folder shows the separator. The first row may be a heading, or name a picture that is
  // not there.
  const auto names_picture = [&](std::span<const std::string> row) {
    return std::binary_search(pictures.begin(), pictures.end(), row[0]);
  };
  bool separated = false;
  while (!separated && rows.next_row()) separated = rows.separate(2, names_picture);
  if (separated) table.separate_as(rows);
  FolderLabels labels;
  std::vector<LoneLine> lines_alone, without_label;
  std::vector<std::string> pictures_alone;
  std::set<std::string, std::less<>> told;
  for (bool first = true; table.next_row(); first = false) {
    if (first && !separated) table.separate(2);
    const std::vector<std::string>& fields = table.fields();
    const std::string &name = fields[0], &label = fields[1];
    const int64_t number = table.line_number();
    if (name.empty()) table.wrong("has a label and no name");
    if (first && is_heading(name, label, pictures)) continue;
    if (is_number_with_comma(label))
      table.wrong_field(1, "the label is " + in_quotes(label) + ", with a comma in a number",
                        "write a point for decimals");
    if (!std::binary_search(pictures.begin(), pictures.end(), name))
      lines_alone.push_back({number, name});
    else if (!told.insert(name).second)
      table.wrong("names " + in_quotes(name) + " a second time", "give each picture one label");
    else if (label.empty())
      without_label.push_back({number, name});
    else
      labels.of.emplace(name, label);
  }
  write_whole(labels);
  for (const std::string& picture : pictures)
    if (!told.contains(picture)) pictures_alone.push_back(picture);
  warn_of(labels, file, "no picture", lines_alone);
  warn_of(labels, file, "no label", without_label);
  warn_of(labels, file, pictures_alone);
  if (std::string left_out = table.lines().empty_lines().warning(file); !left_out.empty())
    labels.warnings.push_back(std::move(left_out));
  return labels;
}

}  // namespace stormcell
