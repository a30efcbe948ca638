// Sheets as tests ask for them.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/sheet/sheet.h"

namespace stormcell::testing {

inline std::vector<std::string> lines_of(const ModelSheet& sheet) {
  std::vector<std::string> lines;
  for (const SheetLack& lack : sheet.lacks) lines.push_back(to_text(lack));
  return lines;
}
inline bool lacks(const ModelSheet& sheet, std::string_view words) {
  const std::vector<std::string> lines = lines_of(sheet);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.find(words) != std::string::npos; });
}
inline ModelSheet sheet_at(const std::string& path) { return sheet_of(model_place(path)); }

}  // namespace stormcell::testing
