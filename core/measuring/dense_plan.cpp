#include "core/measuring/dense_plan.h"

#include "core/base/error.h"
#include "core/bench/profile_split.h"
#include "core/measuring/measured_plans.h"
#include "core/measuring/plan_figures.h"
#include "core/passes/dense_graph.h"
#include "core/verification/verify.h"

namespace stormcell {
namespace {

std::shared_ptr<const Graph> made_dense(const Graph& routed) {
  DenseGraph dense = dense_graph(routed);
  if (!dense.why_not.empty())
    failed("--dense", "pictures of one size have a dense plan, those of another not: " + dense.why_not);
  return std::make_shared<const Graph>(std::move(dense.graph));
}

std::unique_ptr<ReadyPlan> make_dense(Workload& work, const Progress& progress) {
  const GraphOfSize routed = work.graph_of_size();
  return work.state().make_plan("dense", GraphOfSize([routed](PictureSize size) { return made_dense(*routed(size)); }),
                                0, progress);
}

/// Difference of the plan's answers from the baseline's, on a batch of each size; empty: none.
std::string difference(Workload& work, ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& dense,
                       const std::vector<int64_t>& batches, const CancellationToken& cancel) {
  for (const int64_t b : one_of_each_size(*work.state().data, batches))
    if (const std::string came = differences_from(work, baseline, dense, b, cancel).front(); !came.empty())
      return came + ", on batch " + std::to_string(b);
  return {};
}

}  // namespace

void measure_dense(Workload& work, ReadyPlan& baseline, const std::vector<int64_t>& batches, double seconds,
                   RunSummaryFigures& figures, const Progress& progress) {
  const auto leave_out = [&](const std::string& why) {
    figures.warnings.push_back("--dense: there is no dense plan to show: " + why);
  };
  if (const DenseGraph tried = dense_graph(*work.graph()); !tried.why_not.empty()) return leave_out(tried.why_not);
  std::vector<std::unique_ptr<ReadyPlan>> dense;
  dense.push_back(make_dense(work, progress));
  ReadyPlan& plan = *dense.front();
  if (const std::string why = difference(work, baseline, dense, batches, progress.cancel); !why.empty())
    return leave_out("it differs: " + why);
  MeasuredPlans plans(work.state(), {&baseline, &plan}, progress);
  const MirroredJob job = plans.job(batches, seconds);
  plans.warm_up(batches.front());
  const MirroredTimes times = measure_mirrored(job, progress);
  const Measured how = measured(times);
  figures.dense = plan_figures(work, plan, times.plan_latency(0), times.plan_reads(0), how.batches, how.rounds);
  set_limit_share(*figures.dense, plan, work.state(), how.batches, progress);
  figures.dense_baseline_ms = times.baseline_latency(0);
  const Ratio beside = times.speedup(0);
  if (!(beside.value > 0)) return;
  figures.routing_withheld = too_few(beside, std::ssize(batches));
  if (figures.routing_withheld) return;
  figures.routing_speedup = 1 / beside.value;
  if (beside.ci95[0] > 0) figures.routing_speedup_ci95 = {{1 / beside.ci95[1], 1 / beside.ci95[0]}};
}

}  // namespace stormcell
