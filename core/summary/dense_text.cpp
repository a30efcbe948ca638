#include "core/summary/dense_text.h"

#include <fmt/format.h>

namespace stormcell {

std::string dense_text(const RunSummaryFigures& f) {
  if (!f.dense) return {};
  std::string text = "dense: every cell through every branch, masked";
  if (!f.routing_speedup) return text;
  text += fmt::format("; routing alone makes the baseline {:.3g}x as fast", *f.routing_speedup);
  if (!f.routing_speedup_ci95) return text;
  const auto& [low, high] = *f.routing_speedup_ci95;
  return text + fmt::format(" [{:.3g}, {:.3g}]", low, high) + (low <= 1 && high >= 1 ? ": nothing measurable is saved" : "") +
         ", measured in turns with it; the dense latencies are of executions of their own";
}

}  // namespace stormcell
