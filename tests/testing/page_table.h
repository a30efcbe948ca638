// A table of a page of docs/, to be held against the list of the program.
#pragma once
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {

/// The words in `code` that begin the rows of the table whose head begins with `head`, in their order; none where there
/// is no such table.
inline std::vector<std::string> first_words_of_table(const std::string& page, std::string_view head) {
  std::ifstream file(source_folder() + "/docs/" + page);
  std::vector<std::string> words;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(head)) inside = true;
    if (line.empty()) inside = false;
    if (inside && line.starts_with("| `")) words.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return words;
}

/// The ids of a list's rows.
template <class Rows>
std::vector<std::string> ids_of(const Rows& rows) {
  std::vector<std::string> ids;
  for (const auto& row : rows) ids.emplace_back(row.id);
  return ids;
}

}  // namespace stormcell::testing
