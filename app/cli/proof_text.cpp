#include "app/cli/proof_text.h"

#include <algorithm>
#include <vector>

#include "app/cli/numbers_text.h"
#include "core/base/counted.h"
#include "core/base/run_kind.h"
#include "core/summary/exit_target.h"
#include "core/summary/items_text.h"
#include "core/summary/measured_text.h"
#include "core/summary/stated_speedups.h"
#include "core/summary/verdict_text.h"

namespace stormcell::cli {
namespace {

void add_flips(Rows& rows, const std::vector<Flip>& flips, const std::string& item) {
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(kShown, flips.size()); ++i) {
    const Flip& f = flips[i];
    const auto branch = [](int32_t b) { return b < 0 ? std::string("no branch") : "branch " + std::to_string(b); };
    rows.push_back(
        {"", "  " + f.router + ", batch " + count_text(f.batch) +
                 (f.item < 0 ? ", cell " + count_text(f.cell)
                             : ", cell " + count_text(f.position) + " of " + item + " " + count_text(f.item)) +
                 (f.turn < 0 ? "" : ", turn " + count_text(f.turn)) + ": " + branch(f.reference) + " became " +
                 branch(f.ours) +
                 (f.follows ? ", a consequence"
                            : ", margin " + number_text(f.margin, 2) + ", score error " +
                                  number_text(f.score_error, 2) + (f.explained ? ", a near tie" : ", no near tie"))});
  }
}

void add_speedup(Rows& rows, const RunSummaryFigures& f) {
  const SpeedVerdict verdict = speed_verdict(f);
  const std::string sentence(speed_sentence(verdict));
  const bool faster = verdict == SpeedVerdict::faster;
  // With a target, the headline is the gain over the unchanged model. The gain of the passes alone is measured at equal
  // thresholds.
  const bool of_target = f.exit_target && f.is_verified();
  if (of_target) rows.push_back({"speed-up", over_model_sentence(*f.exit_target)});
  const std::string title = of_target ? "  by passes alone" : "speed-up";
  if (verdict == SpeedVerdict::withheld) {
    rows.push_back({title, not_measured_text(*f.withheld)});
    rows.push_back({"", std::string(what_to_do(*f.withheld, measuring_end(f)))});
    return;
  }
  if (!faster && verdict != SpeedVerdict::slower && verdict != SpeedVerdict::not_measurable) {
    rows.push_back({title, sentence});
    return;
  }
  const auto& ci = f.speedup_ci95;
  rows.push_back(
      {title, ratio_text(*f.speedup) +
                  (ci ? "  95 % interval " + number_text((*ci)[0]) + " to " + number_text((*ci)[1]) : std::string())});
  if (!faster) rows.push_back({"", sentence});
  rows.push_back({"", speedup_basis_text(f)});
  rows.push_back({"", "the plan beside the baseline on the same batch, one right after the other"});
}

}  // namespace

std::string proof_text(const RunSummaryFigures& f, bool verbose) {
  Rows rows;
  if (!f.verified) {
    rows.push_back({"verified", "not verified"});
  } else {
    const Verification& v = *f.verified;
    rows.push_back({"verified", std::string(v.passed ? "yes" : "NO") + "; largest difference " +
                                    number_text(v.max_rel_diff, 2) + " of the largest value (tolerance " +
                                    number_text(v.tolerance, 1) + ")"});
    rows.push_back({"", v.text});
    if (const std::string equality = equality_text(v, f.dataset.batches); !equality.empty())
      rows.push_back({"", equality});
    rows.push_back(
        {"", flips_text(v) +
                 (v.dropped > 0 ? "; the oracle dropped " + counted(v.dropped, "cell") + " for capacity" : "")});
    for (const std::string& reason : v.reasons) rows.push_back({"", reason_text(reason)});
    if (const auto& format = v.format) {
      rows.push_back({format->dtype + " costs",
                      number_text(format->max_rel_diff, 2) +
                          " of the largest value with the routing choices of the stored weights (--tolerance " +
                          number_text(format->tolerance, 1) + ")"});
      if (const std::string freely = free_cost_text(*format); !freely.empty()) rows.push_back({"", freely});
    }
    for (const OutputDifference& o : v.outputs)
      if (verbose)
        rows.push_back({"", "  " + o.name + ": " + number_text(o.max_rel_diff, 2) + " of its largest value"});
  }
  if (verbose && f.verified) add_flips(rows, f.verified->listed, item_noun(f.dataset));
  if (run_kind(f.verb) == RunKind::optimize) add_speedup(rows, f);
  return "\n" + table_text(rows, {});
}

}  // namespace stormcell::cli
