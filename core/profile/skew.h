// Skew of a router's loads, in the figures that simulators of serving take in place of a trace.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace stormcell {

/// The exponent of a power law of loads as AIConfigurator draws them: densities x^-alpha on [1, 0.8 cells] (on [0.01,
/// 2] where there are fewer choices than branches), scaled to the number of choices.
struct PowerLaw {
  double alpha = 0;
  double error = 0;  ///< of the law's share of a branch, root of the mean square, as a part of an even share
};
/// The law whose quantiles are nearest to the sorted loads, by least squares; 0 <= alpha <= 8. Empty without loads.
std::optional<PowerLaw> power_law_of(std::span<const int64_t> loads, int64_t cells);

/// Expected number of branches that `drawn` cells meet, drawn with replacement from `cells`; `loads` of these chose
/// each branch.
double distinct_branches(std::span<const int64_t> loads, int64_t cells, double drawn);

}  // namespace stormcell
