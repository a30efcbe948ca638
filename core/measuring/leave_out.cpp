#include "core/measuring/leave_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/numbers.h"
#include "core/summary/withheld.h"

namespace stormcell {
namespace {

std::string text_of(const Ratio& speed) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", speed.value, speed.ci95[0], speed.ci95[1]);
}

/// The words that replace a speed that was not measured well enough.
constexpr const char* kCostNotKnown = "no gain was seen, and the cost was not measured well enough";

std::string cost_text(const Ratio& speed) { return text_of(speed) + " of the speed without it"; }

std::string memory_text(int64_t more) {
  return more > 0 ? to_text(Bytes(more)) + " of memory more" : "no memory saved";
}

/// More than a pass may take that gains nothing: as much as would count as saved.
int64_t added_bytes(const PlanBytes& without, const PlanBytes& with) { return saved_bytes(with, without); }

/// A loss is slower, or takes more memory for a gain that is measured to be none or below a fiftieth. A measurement
/// that cannot exclude such a gain, because it was short or disturbed, is no evidence against a pass: otherwise useful
/// passes would be dropped.
bool is_loss(const Contribution& c) {
  constexpr double kWorthMemory = 1.02;
  if (c.speed.below_one()) return true;
  return added_bytes(c.without, c.with) > 0 && !c.speed.above_one() && c.speed.ci95[1] < kWorthMemory;
}

}  // namespace

int64_t saved_bytes(const PlanBytes& without, const PlanBytes& with) {
  const auto shrinks = [](int64_t before, int64_t after) { return (before - after) * 100 >= before && before > after; };
  if (!shrinks(without.weights, with.weights) && !shrinks(without.activations, with.activations)) return 0;
  return std::max<int64_t>(without.weights + without.activations - with.weights - with.activations, 0);
}

std::vector<LeftOut> passes_to_leave_out(const std::vector<Contribution>& contributions, const Contribution& total) {
  std::vector<LeftOut> list;
  if (!total.wrong.empty()) return list;
  const Contribution* least = nullptr;
  for (const Contribution& c : contributions) {
    if (!c.wrong.empty()) continue;
    if (!least || c.speed.value < least->speed.value) least = &c;
    if (saved_bytes(c.without, c.with) > 0) continue;
    if (!is_loss(c)) continue;
    const std::string memory = ", and " + memory_text(added_bytes(c.without, c.with));
    list.push_back(
        {c.pass, "left out: " + cost_text(c.speed) + memory, std::string("left out: ") + kCostNotKnown + memory});
  }
  if (!list.empty() || !least || !total.speed.below_one() || saved_bytes(total.without, total.with) > 0) return list;
  return {{least->pass,
           "left out: all passes together gave " + text_of(total.speed) +
               " of the baseline's speed and saved no memory, and this one brought least (" + text_of(least->speed) +
               ")",
           "left out: all passes together gave no gain that was measured well enough and saved no memory, and this one "
           "brought least"}};
}

std::vector<LeftOut> passes_that_always_miss(const std::vector<PassReport>& passes, int64_t batches, int64_t held_out) {
  std::vector<LeftOut> list;
  if (batches < fewest_batches(held_out)) return list;
  for (const PassReport& p : passes)
    if (p.applied && p.fallbacks > 0 && p.guard_hits == 0)
      list.push_back({p.name, "left out: its guards never held on the " + std::to_string(batches) +
                                  (batches == 1 ? " batch that was" : " batches that were") +
                                  " measured; these batches need the parts that it leaves out"});
  return list;
}

WhyKept why_kept(const Contribution& c, bool keep_all) {
  const auto both = [&](const std::string& begin, const std::string& end) {
    return WhyKept{begin + cost_text(c.speed) + end, begin + kCostNotKnown + end};
  };
  const int64_t saved = saved_bytes(c.without, c.with);
  if (saved > 0)
    return c.speed.below_one() ? both(" (kept for " + to_text(Bytes(saved)) + " of memory less: ", ")") : WhyKept();
  return keep_all && is_loss(c)
             ? both(" (kept by --keep-all: ", ", and " + memory_text(added_bytes(c.without, c.with)) + ")")
             : WhyKept();
}

}  // namespace stormcell
