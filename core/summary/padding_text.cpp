#include "core/summary/padding_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/pass_names.h"

namespace stormcell {
namespace {

/// The pass that leaves padding out, where the run had one; null: none.
const PassReport* unpadding_pass(const RunSummaryFigures& f) {
  // Runs from before passes said so had one that does.
  const auto pass = std::find_if(f.passes.begin(), f.passes.end(),
                                 [](const PassReport& p) { return p.leaves_padding_out.value_or(p.name == "unpad"); });
  return pass == f.passes.end() ? nullptr : &*pass;
}

/// "46 %" of `cells` that are not real; of few one digit more.
std::string padding_share(int64_t cells, int64_t real) {
  const double percent = 100 * static_cast<double>(cells - real) / cells;
  return percent < 10 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string unpadded_text(const RunSummaryFigures& f) {
  const PassReport* const pass = unpadding_pass(f);
  if (!pass || (!pass->applied && !pass->left_out)) return {};
  std::string text = "; " + pass_name(pass->name) + " computes the real ones alone";
  if (pass->speedup_own) {
    const auto& ci = pass->speedup_own_ci95;
    const std::string interval = ci ? fmt::format(" [{:.3g}, {:.3g}]", (*ci)[0], (*ci)[1]) : "";
    // Around 1 neither a gain nor a loss is stated.
    if (ci && (*ci)[0] <= 1 && (*ci)[1] >= 1)
      text += ": no measurable difference in speed" + interval;
    else
      text += fmt::format(": {:.3g}x the speed", *pass->speedup_own) + interval + ", measured";
  }
  if (!pass->speedup_own && pass->withheld) text += ": its speed was " + std::string(kNotMeasured);
  return text + (pass->left_out ? " (left out)" : "");
}

}  // namespace

bool leaves_padding_out(const RunSummaryFigures& f) {
  const PassReport* const pass = unpadding_pass(f);
  return pass && pass->applied && !pass->left_out;
}

std::string padding_text(const RunSummaryFigures& f) {
  const DatasetFigures& d = f.dataset;
  const int64_t real = d.cells_without_padding, given = d.cells_as_given, by_length = d.cells_by_length;
  if (given <= 0 || by_length <= 0 || real <= 0 || given <= real) return {};
  std::string text = padding_share(given, real) + " of the cells as given are padding (" + counted(given, "cell") +
                     ", " + with_commas(real) + " of them real); batches of like length " +
                     (d.by_length ? "compute " : "would compute ") + with_commas(by_length);
  if (by_length > real) text += ", " + padding_share(by_length, real) + " padding";
  if (d.by_length) text += " (this run)";
  return text + unpadded_text(f);
}

}  // namespace stormcell
