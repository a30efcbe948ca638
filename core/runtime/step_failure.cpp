#include "core/runtime/step_failure.h"

#include "core/base/error.h"

namespace stormcell {

std::string to_text(const StepFailure& f) {
  switch (f.what) {
    case StepFailure::rows_beyond_places:
      return "expected rows that fit " + std::to_string(f.most) + " places, got " + std::to_string(f.got) +
             " from place " + std::to_string(f.at);
    case StepFailure::missing_page:
      return "expected a page for place " + std::to_string(f.at) + " of sequence " + std::to_string(f.parent) +
             ", got none";
    case StepFailure::elsewhere:
      return "a submission goes on at leaf " + std::to_string(f.got) + ", the device waits " +
             (f.at < 0 ? "nowhere" : "at leaf " + std::to_string(f.at));
    default:
      return "failed for a reason that this program does not know: " + std::to_string(f.what);
  }
}

void throw_failure(std::string_view node, const StepFailure& failure, std::string_view device) {
  const std::string where = std::string(node) + (device.empty() ? "" : " on " + std::string(device));
  failed(where, to_text(failure));
}

}  // namespace stormcell
