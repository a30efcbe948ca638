// Shares as sentences have them.
#pragma once
#include <string>

namespace stormcell {

/// "54.2 %" of 0.542.
std::string percent_text(double share);

}  // namespace stormcell
