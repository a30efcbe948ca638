#include "app/cli/calibration_text.h"

#include <algorithm>
#include <cmath>

#include "app/cli/numbers_text.h"
#include "core/base/listed_words.h"

namespace stormcell::cli {
namespace {

constexpr size_t kMostNames = 4;

std::string percent(const std::optional<double>& share) {
  return share ? (*share > 0 ? "+" : "") + number_text(100 * *share, 2) + " %" : "-";
}

std::string names_of(const CalibratedPhase& p) {
  const std::vector<std::string> first(p.from.begin(), p.from.begin() + static_cast<std::ptrdiff_t>(std::min(p.from.size(), kMostNames)));
  return joined(first) + (p.from.size() > kMostNames ? ", ..." : "");
}

/// Of phases that go by curves over rows, which have no line.
std::string curves_text(const CalibrationUse& use) {
  std::string text;
  for (const CalibratedPhase& p : use.phases)
    if (p.rows)
      text += p.phase + ": by the time of each expert's rows, " + number_text(p.rows->least) + " to " + number_text(p.rows->most) +
              " in these steps, measured at " + number_text(p.rows->least_measured) + " to " + number_text(p.rows->most_measured) + "\n";
  return text;
}

}  // namespace

std::string calibration_text(const CalibrationUse& use) {
  std::vector<std::vector<std::string>> rows = {
      {"calibrated", "kind", "start us", "GB/s", "us a layer", "size", "held out", "laboratories", "by"}};
  for (const CalibratedPhase& p : use.phases) {
    if (!p.calibrated())
      rows.push_back({p.phase, "no", "-", "-", "-", "-", "-", "-", p.why_not});
    else
      rows.push_back({p.phase, std::string(to_text(p.kind)), p.rows ? "-" : number_text(p.t0_us),
                      p.rows ? "-" : number_text(p.bytes_per_s / 1e9), number_text(p.us), p.rows ? "-" : number_text(p.size),
                      percent(p.held_out), percent(p.laboratories), p.like + ": " + names_of(p)});
  }
  return "\n" + table_text(rows, {2, 3, 4, 5, 6, 7}) + "us a layer: of a mean step of " + number_text(use.tokens_per_step) +
         " tokens, routed evenly; size: what it moves / the nearest size that " + use.file +
         "\nsays something of; GB/s: in bytes of this model; held out: predicted / measured - 1 of the nearest call, left out; what is not "
         "calibrated\nkeeps the rates of data sheets and starts at once\n" +
         curves_text(use);
}

}  // namespace stormcell::cli
