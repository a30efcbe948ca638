#include "core/summary/dense_text.h"

#include <fmt/format.h>

#include "core/summary/latency.h"

namespace stormcell {

std::string dense_text(const RunSummaryFigures& f) {
  if (!f.dense) return {};
  std::string text = fmt::format("dense (every cell through every branch, masked): {:.3g} ms a batch",
                                 typical_milliseconds(f.dense->latency_ms));
  if (f.dense_baseline_ms)
    text +=
        fmt::format(" where the baseline took {:.3g} ms in the same pairs", typical_milliseconds(*f.dense_baseline_ms));
  if (!f.routing_speedup)
    return text + (f.routing_withheld ? "; what routing saves was " + not_measured_text(*f.routing_withheld) : "");
  text += fmt::format(": routing alone makes {} {:.3g}x as fast", f.dense_baseline_ms ? "it" : "the baseline",
                      *f.routing_speedup);
  if (!f.routing_speedup_ci95) return text;
  const auto& [low, high] = *f.routing_speedup_ci95;
  return text + fmt::format(" [{:.3g}, {:.3g}]", low, high) +
         (low <= 1 && high >= 1 ? ", nothing measurable is saved" : "");
}

}  // namespace stormcell
