#include "core/imports/traced_shape.h"

#include <algorithm>

#include "core/traces/trace.h"

namespace stormcell {

TracedShape shape_of(const TraceHeader& header) {
  TracedShape shape{header.model, std::ssize(header.routers), 0, 0};
  for (const TraceRouter& r : header.routers) {
    shape.branches = std::max<int64_t>(shape.branches, r.branches);
    shape.k = std::max<int64_t>(shape.k, r.fan_out);
  }
  return shape;
}

}  // namespace stormcell
