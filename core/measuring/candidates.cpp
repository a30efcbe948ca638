#include "core/measuring/candidates.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/verification/verify.h"

namespace stormcell {
namespace {

PlanBytes bytes_of(const ReadyPlan& plan) { return {plan.weight_bytes(), plan.activation_bytes()}; }

/// Until the last of a batch's sequences has ended: `decoded` [sequences, new_tokens], -1 behind an end.
int64_t turns_of(const std::vector<int32_t>& decoded, int64_t new_tokens) {
  int64_t turns = 0;
  for (size_t i = 0; i < decoded.size(); ++i)
    if (decoded[i] >= 0) turns = std::max(turns, static_cast<int64_t>(i) % new_tokens + 1);
  return turns;
}

size_t count_applied(const PipelineResult& passed, PassResult PassOutcome::*way) {
  return static_cast<size_t>(std::count_if(passed.outcomes.begin(), passed.outcomes.end(),
                                           [way](const PassOutcome& o) { return (o.*way).applied; }));
}

}  // namespace

std::string unlike_turns(const std::map<int64_t, std::vector<int32_t>>& plan,
                         const std::map<int64_t, std::vector<int32_t>>& baseline, int64_t new_tokens) {
  for (const auto& [batch, decoded] : plan) {
    const auto at = baseline.find(batch);
    if (at == baseline.end()) continue;
    const int64_t turns = turns_of(decoded, new_tokens), of_baseline = turns_of(at->second, new_tokens);
    if (turns != of_baseline)
      return "its texts of batch " + std::to_string(batch) + " end after " + counted(turns, "turn") +
             ", the baseline's after " + std::to_string(of_baseline) + ", which is other work";
  }
  return {};
}

Candidates make_candidates(Workload& work, const LoadProfile& profile, const std::vector<ChosenPass>& chosen,
                           OnTheirOwn on_their_own, const Progress& progress, const ChooseTrying& choose) {
  progress.report("passes", 0, std::ssize(chosen));
  return candidates_of(work, run_passes(work.pass_input(profile), chosen, on_their_own), on_their_own, progress,
                       choose);
}

Candidates candidates_of(Workload& work, PipelineResult passed, OnTheirOwn on_their_own, const Progress& progress,
                         const ChooseTrying& choose) {
  Candidates c;
  c.passed = std::move(passed);
  const size_t upon = count_applied(c.passed, &PassOutcome::cumulative),
               alone = count_applied(c.passed, &PassOutcome::alone);
  // The first pass that applies is measured alone in any case.
  if (choose) c.trying = choose(upon, alone > 0 ? alone - 1 : 0);
  c.only_together = c.trying == Trying::together && upon > 1;
  const PassOutcome* last = nullptr;
  for (const PassOutcome& outcome : c.passed.outcomes)
    if (outcome.cumulative.applied) last = &outcome;
  const auto add = [&](const PassResult& result, const PlanPromises& promises, const std::string& name,
                       const PassConfiguration& configuration) {
    if (!result.applied) return kNoPlan;
    c.plans.push_back(work.make_plan(name, std::make_shared<Graph>(result.graph), configuration, progress));
    c.plans.back()->promises = promises;
    return c.plans.size() - 1;
  };
  PassConfiguration until;  // all passes up to one
  PlanPromises promises;    // of these
  for (const PassOutcome& outcome : c.passed.outcomes) {
    if (outcome.cumulative.applied) {
      until.emplace(outcome.pass->id, saved_parameters(outcome));
      promises.add(outcome.cumulative);
    }
    const bool is_tried = !c.only_together || &outcome == last;
    c.cumulative_of.push_back(
        is_tried ? add(outcome.cumulative, promises, "up to " + std::string(outcome.pass->id), until) : kNoPlan);
    if (c.cumulative_of.back() != kNoPlan) c.final_plan = c.cumulative_of.back();
    progress.report("passes", std::ssize(c.cumulative_of), std::ssize(c.passed.outcomes));
  }
  for (size_t i = 0; i < c.passed.outcomes.size(); ++i) {
    // A pass on top of nothing is alone.
    const bool first = c.cumulative_of[i] == 0;
    const PassOutcome& outcome = c.passed.outcomes[i];
    const std::string id(outcome.pass->id);
    const auto add_alone = [&] {
      PlanPromises own;
      own.add(outcome.alone);
      return add(outcome.alone, own, id, {{id, saved_parameters(outcome.options, outcome.alone)}});
    };
    c.alone_of.push_back(on_their_own == OnTheirOwn::no || c.trying != Trying::all ? kNoPlan : first ? 0 : add_alone());
  }
  c.wrong.resize(c.plans.size()), c.unlike.resize(c.plans.size());
  return c;
}

void compare_with_baseline(Workload& work, ReadyPlan& baseline, const std::vector<int64_t>& batches, Candidates& c,
                           const CancellationToken& cancel) {
  c.wrong.assign(c.plans.size(), {});
  for (const int64_t b : batches) {
    const std::vector<std::string> differences = differences_from(work, baseline, c.plans, b, cancel);
    for (size_t p = 0; p < differences.size(); ++p)
      if (c.wrong[p].empty() && !differences[p].empty())
        c.wrong[p] = differences[p] + ", on batch " + std::to_string(b);
  }
}

std::vector<Contribution> contributions_of(const Candidates& c, const ReadyPlan& baseline, const MirroredTimes& times) {
  std::vector<Contribution> list;
  if (c.only_together) return list;
  size_t before = kNoPlan;
  for (size_t i = 0; i < c.cumulative_of.size(); ++i) {
    const size_t plan = c.cumulative_of[i];
    if (plan == kNoPlan) continue;
    list.push_back({std::string(c.passed.outcomes[i].pass->id),
                    before == kNoPlan ? times.speedup(plan) : times.speedup_between(before, plan),
                    bytes_of(before == kNoPlan ? baseline : *c.plans[before]), bytes_of(*c.plans[plan]),
                    before != kNoPlan && !c.no_speed(before).empty() ? c.no_speed(before) : c.no_speed(plan)});
    before = plan;
  }
  return list;
}

Contribution total_of(const Candidates& c, const ReadyPlan& baseline, const MirroredTimes& times) {
  return {"all passes", times.speedup(c.final_plan), bytes_of(baseline), bytes_of(*c.plans[c.final_plan]),
          c.no_speed(c.final_plan)};
}

}  // namespace stormcell
