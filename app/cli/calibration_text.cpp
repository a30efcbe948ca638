#include "app/cli/calibration_text.h"

#include <algorithm>
#include <cstddef>

#include "app/cli/numbers_text.h"
#include "core/base/listed_words.h"

namespace stormcell::cli {
namespace {

/// A line for each phase that is costed by a curve over rows; such a phase has no row in the table.
std::string curves_text(const CalibrationUse& use) {
  std::string text;
  for (const CalibratedPhase& p : use.phases)
    if (p.rows)
      text += std::string(to_text(p.phase)) + ": by the time of each expert's rows, " + number_text(p.rows->least) +
              " to " + number_text(p.rows->most) + " in these steps, measured at " +
              number_text(p.rows->least_measured) + " to " + number_text(p.rows->most_measured) + "\n";
  return text;
}

}  // namespace

std::string calls_text(const std::vector<std::string>& ids) {
  constexpr size_t kMost = 4;
  const std::vector<std::string> first(ids.begin(),
                                       ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), kMost)));
  return joined(first) + (ids.size() > kMost ? ", ..." : "");
}

std::string calibration_text(const CalibrationUse& use) {
  std::vector<std::vector<std::string>> rows = {
      {"calibrated", "kind", "start us", "GB/s", "us a layer", "size", "held out", "laboratories", "by"}};
  for (const CalibratedPhase& p : use.phases) {
    if (!p.calibrated())
      rows.push_back({std::string(to_text(p.phase)), "no", "-", "-", "-", "-", "-", "-", p.why_not});
    else
      rows.push_back({std::string(to_text(p.phase)), std::string(to_text(p.kind)), p.rows ? "-" : number_text(p.t0_us),
                      p.rows ? "-" : number_text(p.bytes_per_s / 1e9), number_text(p.us),
                      p.rows ? "-" : number_text(p.size), difference_text(p.held_out), difference_text(p.laboratories),
                      p.like + ": " + calls_text(p.from)});
  }
  return "\n" + table_text(rows, {2, 3, 4, 5, 6, 7}) + "us a layer: of a mean step of " +
         number_text(use.tokens_per_step) + " tokens, routed evenly; size: what it moves / the nearest size that " +
         use.file +
         "\nsays something of; GB/s: in bytes of this model; held out: predicted / measured - 1 of the nearest call, "
         "left out; what is not "
         "calibrated\nkeeps the rates of data sheets and starts at once\n" +
         curves_text(use);
}

}  // namespace stormcell::cli
