#include "core/summary/capacity_text.h"

#include <fmt/format.h>

namespace stormcell {

std::string capacity_text(double factor, double dropped_share) {
  return fmt::format("by a capacity factor of {}{}", factor,
                     dropped_share > 0 ? ": not lossless, the model would answer differently" : "");
}

}  // namespace stormcell
