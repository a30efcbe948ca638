// A heatmap in nine steps of one colour scale, with its legend.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell::report {

struct Heatmap {
  std::string label;                        ///< for screen readers
  std::string unit;                         ///< of the legend: "times the even share"
  std::vector<std::string> rows;            ///< names, not escaped
  std::vector<std::vector<double>> values;  ///< by row; negative: no such column
  std::vector<bool> grey;                   ///< by row: drawn without colour; empty: none
  double top = 0;                           ///< end of the scale; 0: the largest value
  bool shares = false;                      ///< values are shares: shown in percent
  std::string columns = "branch";
  std::string mark;          ///< drawn below the map, so that the picture is complete by itself; empty: none
  int64_t columns_each = 1;  ///< branches of one column
  std::string gaps;          ///< the meaning of a negative value, drawn in grey; empty: it is left blank
};
std::string draw(const Heatmap& map);

/// Sums of `each` consecutive values, so that at most `most` are left.
int64_t grouping(int64_t columns, int64_t most);
std::vector<int64_t> grouped(const std::vector<int64_t>& values, int64_t each);

}  // namespace stormcell::report
