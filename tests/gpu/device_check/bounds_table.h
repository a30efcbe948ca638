// The lower bounds of the layers' products, by the loads that the bench's points have.
#pragma once
#include "tests/gpu/device_check/bounds.h"
#include "tests/gpu/device_check/layer_case.h"

namespace stormcell::device_check {

struct Point {
  int64_t tokens;
  int32_t experts;
  Load load;
};
/// By value: where the targets are first, so that a lack of time costs the least.
std::vector<Point> bench_points(const LayerShape& shape);

/// The bound of one product.
struct ProductBound {
  double seconds = 0;
  double unmerged = 0;    ///< of L2, were nothing that several tiles ask for merged; no bound
  const char* what = "";  ///< which bound is the largest
};
/// [experts + 1] offsets of the slots.
ProductBound product_bound(const LayerShape& shape, int64_t cells, const std::vector<int32_t>& offsets, bool first,
                           const CardRates& rates);

}  // namespace stormcell::device_check
