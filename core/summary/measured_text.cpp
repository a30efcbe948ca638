#include "core/summary/measured_text.h"

#include <fmt/format.h>

namespace stormcell {
namespace {

std::string plural(int64_t count, const char* one, const char* many) { return fmt::format("{} {}", count, count == 1 ? one : many); }

std::string profiled_text(const SplitFigures& s, int64_t measured) {
  if (s.same) return "profiled and measured on the same batch, the only one";
  std::string text = fmt::format("profiled on {} ({}), measured on ", plural(s.profiled, "batch", "batches"),
                                 s.rule == "first" ? "the first quarter" : "every fourth");
  if (measured >= s.measured) return text + (s.measured == 1 ? "the other one" : fmt::format("the other {}", s.measured));
  return text + fmt::format("{} of the other {}", measured, s.measured);
}

}  // namespace

std::string measured_text(const RunSummaryFigures& f) {
  if (!f.baseline && !f.optimized) return {};
  const PlanFigures& p = f.baseline ? *f.baseline : *f.optimized;
  if (p.rounds <= 0) return {};
  const std::string on = f.split                          ? profiled_text(*f.split, p.batches)
                         : p.batches >= f.dataset.batches ? "measured on " + plural(p.batches, "batch", "batches")
                                                          : fmt::format("measured on {} of {} batches", p.batches, f.dataset.batches);
  return on + ", " + plural(p.rounds, "round", "rounds");
}

}  // namespace stormcell
