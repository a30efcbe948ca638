#include "core/summary/verdict_text.h"

#include <algorithm>

namespace stormcell {

bool is_inconclusive(const std::string& reason) { return reason.find(kInconclusive) != std::string::npos; }

bool is_inconclusive(const std::vector<std::string>& reasons) {
  return !reasons.empty() &&
         std::all_of(reasons.begin(), reasons.end(), [](const std::string& r) { return is_inconclusive(r); });
}

std::string reason_text(const std::string& reason) { return is_inconclusive(reason) ? reason : "failed: " + reason; }

SpeedVerdict speed_verdict(const RunSummaryFigures& f) {
  const auto some = [&](bool PassReport::*is) {
    return std::any_of(f.passes.begin(), f.passes.end(), [&](const PassReport& p) { return p.*is; });
  };
  if (!f.optimized && !some(&PassReport::applied))
    return some(&PassReport::left_out) ? SpeedVerdict::all_left_out : SpeedVerdict::nothing_applied;
  if (!f.is_verified()) return SpeedVerdict::not_verified;
  if (!f.speedup) return f.withheld ? SpeedVerdict::withheld : SpeedVerdict::none_stated;
  if (f.speedup_ci95 && (*f.speedup_ci95)[0] > 1) return SpeedVerdict::faster;
  if (f.speedup_ci95 && (*f.speedup_ci95)[1] < 1) return SpeedVerdict::slower;
  return SpeedVerdict::not_measurable;
}

std::string_view speed_sentence(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::faster:
      return "as fast, with the same result.";
    case SpeedVerdict::slower:
      return "Slower than the baseline, with the same result.";
    case SpeedVerdict::not_measurable:
      return "No measurable difference in speed; the result is the same.";
    case SpeedVerdict::none_stated:
      return "The same result; no speed-up is stated, see the warnings.";
    case SpeedVerdict::withheld:
      return "The same result; the speed-up was not measured well enough.";
    case SpeedVerdict::nothing_applied:
      return "No pass applied: there is nothing to compare.";
    case SpeedVerdict::all_left_out:
      return "Nothing was gained: the passes that applied are left out again.";
    case SpeedVerdict::not_verified:
      return "Not verified: no speed-up can be reported.";
  }
  return {};
}

}  // namespace stormcell
