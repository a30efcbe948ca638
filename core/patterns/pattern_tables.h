// The figures of count_patterns() as tables for spreadsheets and plots, a file each.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/patterns/patterns.h"

namespace stormcell {

struct PatternTable {
  std::string_view name;  ///< of the file, without .csv
  std::string_view summary;
};
/// layers, margins, coactivation, transitions, labels, vocabulary.
std::span<const PatternTable> pattern_tables();

/// The text of one: a comment that says where it comes from, a line of names, the rows. Empty: the recording has nothing
/// for it. `name`: of pattern_tables().
std::string pattern_table_text(std::string_view name, const PatternFigures& figures);

/// Makes the folder if it is missing; call it before the work. Error(bad_input): it is a file or cannot be made.
void make_table_folder(const std::string& folder);
/// Writes those that have rows into a folder. Returns their names.
std::vector<std::string> write_pattern_tables(const PatternFigures& figures, const std::string& folder);

}  // namespace stormcell
