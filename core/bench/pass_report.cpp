#include "core/bench/pass_report.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/passes/constant_branches.h"
#include "core/passes/profiled_branches.h"

namespace stormcell {
namespace {

/// If a router sends each cell to one branch, the loads give the exact number of cells that went elsewhere. With
/// several branches a cell may lack some and have others. Then the number is a lower bound: the cells that the branch
/// with the largest gap lacks, or as many as the choices of other branches need.
HeldOutRouter held_out_of(const ConstantClaim& claim, const RouterLoad& load) {
  const LoadInUse in_use = load_in_use(load, claim.of_real_cells);
  int64_t missing = 0, strangers = 0;
  for (size_t b = 0; b < in_use.load.size(); ++b) {
    const bool claimed =
        std::find(claim.branches.begin(), claim.branches.end(), static_cast<int32_t>(b)) != claim.branches.end();
    if (claimed) missing = std::max(missing, in_use.cells - in_use.load[b]);
    if (!claimed) strangers += in_use.load[b];
  }
  return {claim.router, in_use.cells, std::max(missing, (strangers + claim.fan_out - 1) / claim.fan_out)};
}

bool is_weaker_evidence(const HeldOutRouter& a, const HeldOutRouter& b) {
  if (a.otherwise == 0 && b.otherwise == 0) return a.cells < b.cells;
  return static_cast<double>(a.otherwise) / a.cells > static_cast<double>(b.otherwise) / b.cells;
}

}  // namespace

PassReport report_of(const PassOutcome& outcome) {
  PassReport report;
  report.name = std::string(outcome.pass->id);
  report.applied = outcome.cumulative.applied;
  for (const auto& [key, text] : outcome.options)
    report.reason += (report.reason.empty() ? "with " : ", ") + key + "=" + text;
  report.reason += (report.reason.empty() ? "" : ": ") + outcome.cumulative.reason;
  report.options = outcome.options;
  report.parameters = outcome.cumulative.parameters;
  report.leaves_padding_out = outcome.pass->leaves_padding_out;
  return report;
}

void add_held_out(const std::vector<ConstantClaim>& claims, const LoadProfile& held_out, PassReport& report) {
  report.held_out.clear();
  if (claims.empty()) return;
  // The router with the largest share of cells that went otherwise; where none did, the one with the fewest cells.
  const HeldOutRouter* shown = nullptr;
  const ConstantClaim* its_claim = nullptr;
  report.held_out.reserve(claims.size());
  int64_t batches = 0;
  for (const ConstantClaim& claim : claims) {
    const auto at = held_out.routers.find(claim.router);
    if (at == held_out.routers.end()) continue;
    batches = std::max(batches, at->second.batches);
    const HeldOutRouter& held = report.held_out.emplace_back(held_out_of(claim, at->second));
    if (held.cells > 0 && (!shown || is_weaker_evidence(held, *shown))) shown = &held, its_claim = &claim;
  }
  if (!shown) {
    report.reason += batches == 0 ? "; no batch was held out" : "; no held-out cell came to them";
    return;
  }
  if (shown->otherwise == 0) {
    report.reason += "; " + otherwise_text(0, shown->cells, "held-out");
  } else if (its_claim->fan_out == 1) {
    report.reason += "; " + shown->router + ": " + otherwise_text(shown->otherwise, shown->cells, "held-out");
  } else {
    report.reason += "; " + shown->router + ": at least " + with_commas(shown->otherwise) + " of " +
                     with_commas(shown->cells) + " held-out cells otherwise";
  }
}

void add_guard_counts(const ReadyPlan& plan, std::vector<PassReport>& passes) {
  for (PassReport& pass : passes)
    if (const auto counts = plan.guards.find(pass.name); counts != plan.guards.end())
      pass.guard_hits += counts->second.hits, pass.fallbacks += counts->second.misses;
}

}  // namespace stormcell
