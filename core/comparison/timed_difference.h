// The difference of two figures that come with intervals, and whether chance explains it.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace stormcell {

/// A figure of one run with its 95 % interval.
struct FigureInterval {
  double value = 0;
  std::array<double, 2> ci95{};
};
/// 95 % interval of b - a, of two independent measurements. Of times and their ratios the logarithms are compared: `ratios`; where one is
/// not above 0, they are compared as they are.
enum class Scale : uint8_t { plain, ratios };
std::array<double, 2> interval_of_difference(const FigureInterval& a, const FigureInterval& b, Scale scale);

/// Why times of a run say nothing about another run, whatever their intervals: measured in one process, or not well enough. Empty: its
/// intervals hold the spread between runs. Of decoding behind a forward pass the half that `figure` is of is asked, and of a pass that was
/// left out its own gain is of one process.
std::string why_no_spread(const nlohmann::ordered_json& summary, std::string figure);

}  // namespace stormcell
