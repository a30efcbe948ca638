#include <string_view>

#include "core/base/bounded_number.h"
#include "core/base/error.h"
#include "core/experiment/experiment.h"

namespace stormcell {

double parse_optimize_limit(std::string_view text) {
  constexpr double kDay = 86400;
  try {
    const double seconds = bounded_number<double>("--time-limit", text, {0, kDay});
    if (seconds > 0) return seconds;
  } catch (const Error&) {  // the message is below
  }
  does_not_fit("--time-limit", text, "seconds above 0 and at most 86400, for example 60");
}

}  // namespace stormcell
