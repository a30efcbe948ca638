// Intervals of quality.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace stormcell {

/// 95 % interval of a share, given `right` of `of` items (Wilson 1927, without correction for continuity). Unlike the
/// normal interval it stays within 0 to 1 and is useful even if all, or none, are right. Empty without items.
std::optional<std::array<double, 2>> wilson_interval(int64_t right, int64_t of);

/// 95 % interval of the mean: percentiles of the means of 2,000 samples drawn from `values` with replacement (Efron
/// 1979), always the same ones. Nothing of fewer than two values.
std::optional<std::array<double, 2>> bootstrap_interval(std::span<const double> values);

/// The same of any figure of `count` things: `figure` is given which of them were drawn.
std::optional<std::array<double, 2>> bootstrap_interval(size_t count,
                                                        const std::function<double(std::span<const size_t>)>& figure);

/// The same of a figure of two groups, each drawn on its own. Nothing where either has fewer than two.
std::optional<std::array<double, 2>> bootstrap_interval(
    std::array<size_t, 2> counts,
    const std::function<double(std::span<const size_t>, std::span<const size_t>)>& figure);

}  // namespace stormcell
