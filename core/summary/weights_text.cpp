#include "core/summary/weights_text.h"

namespace stormcell {

std::string weights_text(const std::string& weights, bool stated) {
  if (weights.empty()) return {};
  return stated ? weights + " weights" : "weights as stored";
}

}  // namespace stormcell
