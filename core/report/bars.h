// Horizontal bars of a page: parts one behind the other, or pairs.
#pragma once
#include <string>
#include <vector>

namespace stormcell::report {

/// One bar; its parts are side by side.
struct BarRow {
  std::string name;  ///< not escaped
  std::vector<double> parts;
  std::string text;  ///< behind it, not escaped
  double most = 0;   ///< value of the whole width; 0: the longest bar's sum
};
struct Bars {
  std::string label;              ///< for screen readers
  std::vector<std::string> keys;  ///< of the parts; empty: no legend
  std::vector<BarRow> rows;
};
std::string draw(const Bars& bars);

}  // namespace stormcell::report
