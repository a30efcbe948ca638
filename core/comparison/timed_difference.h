// The difference of two figures with intervals, and whether chance explains it.
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
/// The 95 % interval of b - a of two independent measurements. Scale::ratios is for times and their ratios: it compares
/// logarithms. If a value is not above 0, the plain values are compared.
enum class Scale : uint8_t { plain, ratios };
std::array<double, 2> interval_of_difference(const FigureInterval& a, const FigureInterval& b, Scale scale);

/// The reason why a run's times say nothing about another run: they were measured in one process, or not well enough.
/// Empty: the intervals hold the spread between runs. For a run of a forward pass and decoding, the half that has
/// `figure` decides. The own gain of a pass that was left out is always from one process.
std::string why_no_spread(const nlohmann::ordered_json& summary, std::string figure);

}  // namespace stormcell
