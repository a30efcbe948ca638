#include "core/measuring/stated_gains.h"

#include <algorithm>

#include "core/measuring/measured_plans.h"

namespace stormcell {
namespace {

void add_why_kept(const WhyKept& why, PassReport& report) {
  if (why.text.empty()) return;
  report.reason_without_speeds = report.reason + why.without_speeds;
  report.reason += why.text;
}

}  // namespace

PassReport& StatedGains::report(std::string_view pass) const {
  return *std::find_if(result_.passes.begin(), result_.passes.end(),
                       [&](const PassReport& r) { return r.name == pass; });
}

void StatedGains::set_alone(PassReport& r, const PlanTimes& measured, size_t plan) {
  gains_.set(r, measured.times.speedup(plan), measured.candidates.no_speed(plan), r.speedup_alone,
             r.speedup_alone_ci95);
}

void StatedGains::set_own(const Contribution& c) {
  PassReport& r = report(c.pass);
  gains_.set(r, c.speed, c.wrong, r.speedup_own, r.speedup_own_ci95);
}

void StatedGains::set(const PlanTimes& measured, bool keep_all) {
  if (measured.candidates.final_plan != kNoPlan) set_of_plans(measured, keep_all);
  const bool tells = tells_speed(measured.stated());
  if (!tells) result_.warnings.push_back(why_not_stated("a speed-up", measured.stated()));
  if (!tells || !result_.verified->passed) {
    for (PassReport& pass : result_.passes) pass.clear_gains(), pass.withheld = {};
    result_.speedup = {}, result_.speedup_ci95 = {}, result_.speedup_basis = {};
  }
  gains_.tell(result_.passes, result_.warnings);
}

void StatedGains::set_of_plans(const PlanTimes& measured, bool keep_all) {
  const Candidates& candidates = measured.candidates;
  for (const Contribution& c : contributions_of(candidates, measured.baseline, measured.times)) {
    set_own(c);
    if (c.wrong.empty() && result_.verified->passed) add_why_kept(why_kept(c, keep_all), report(c.pass));
  }
  for (size_t i = 0; i < candidates.cumulative_of.size(); ++i) {
    if (candidates.cumulative_of[i] == kNoPlan) continue;
    PassReport& r = report(candidates.passed.outcomes[i].pass->id);
    const size_t plan = candidates.cumulative_of[i];
    gains_.set(r, measured.times.speedup(plan), candidates.no_speed(plan), r.speedup_cumulative,
               r.speedup_cumulative_ci95);
  }
  if (const std::string& unlike = candidates.unlike[candidates.final_plan]; !unlike.empty()) {
    if (result_.verified->passed)
      result_.warnings.push_back("a speed-up is not stated: near ties fell the other way in the plan, and " + unlike +
                                 "; compare the tokens per second of the two");
    return;
  }
  const Ratio all = measured.stated().speedup(measured.stated_plan());
  result_.speedup = all.value;
  result_.speedup_ci95 = all.ci95;
  result_.speedup_basis = all.basis;
  if (!measured.together) return;
  // The cumulative speed-up of the last pass is the stated one.
  if (PassReport* const last = last_applied()) {
    last->speedup_cumulative = all.value, last->speedup_cumulative_ci95 = all.ci95;
    last->withheld = {};
  }
}

PassReport* StatedGains::last_applied() const {
  PassReport* last = nullptr;
  for (PassReport& p : result_.passes)
    if (p.applied) last = &p;
  return last;
}

void StatedGains::set_total(const std::optional<Pooled>& total) const {
  if (!total || !result_.speedup) return;
  result_.speedup = total->value;
  result_.speedup_ci95 = total->ci95;
  PassReport* const last = last_applied();
  if (last && last->speedup_cumulative)
    last->speedup_cumulative = total->value, last->speedup_cumulative_ci95 = total->ci95;
}

}  // namespace stormcell
