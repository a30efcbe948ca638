#include "core/base/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace stormcell {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const double last = values.size() - 1;
  const auto rank =
      static_cast<std::ptrdiff_t>(std::clamp(std::ceil(q * static_cast<double>(values.size())) - 1, 0.0, last));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[rank];
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace stormcell
