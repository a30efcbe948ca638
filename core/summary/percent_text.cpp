#include "core/summary/percent_text.h"

#include <fmt/format.h>

namespace stormcell {

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace stormcell
