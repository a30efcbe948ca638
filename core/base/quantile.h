// The house's one definition of a quantile. (Quartiles of items' shares alone are interpolated:
// core/quality/item_cost_figures.cpp.)
#pragma once
#include <vector>

namespace stormcell {

/// Nearest rank: the smallest of `values` that at least a share `q` of them does not exceed; 0 without values.
double quantile(std::vector<double> values, double q);
/// quantile(values, 0.5).
double median(std::vector<double> values);

}  // namespace stormcell
