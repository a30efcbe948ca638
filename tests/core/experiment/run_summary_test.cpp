// The summary of a run when everything has run.
#include "core/experiment/run_summary.h"

#include "core/cpu/cpu_device.h"
#include "core/runtime/lower.h"
#include "tests/testing/many_turns.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class RunSummaryTest : public QObject {
  Q_OBJECT
 private slots:
  void steps_that_left_no_event_are_warned_of_once() {
    const RandomCase c = many_turns(kMostEvents);
    cpu::CpuDevice device(1);
    WeightStore store(device, c.weights);
    const auto lowered = [&](PictureSize) {
      CompiledPlan plan;
      plan.graph = std::make_shared<Graph>(c.graph);
      plan.program = std::make_shared<Program>(lower(plan.graph));
      plan.records = std::make_shared<RecordPlan>(record_plan(*plan.program));
      return plan;
    };
    const auto compile = [&](CompiledPlan& plan, PictureSize) {
      plan.executor = std::make_shared<Executor>(device, store, plan.program, c.bindings);
    };
    ReadyPlan plan("baseline", store, lowered, compile, {});
    Batch batch;
    batch.items = {0};
    batch.inputs = {{"x", InputRole::none, {1, 1}, {}, {1}}};

    plan.run(batch, {});
    RunSummaryFigures figures;
    set_figures_at_end(plan, figures);
    QVERIFY(figures.warnings.empty());  // no events were asked for

    ExecuteOptions options;
    options.events = true;
    plan.run(batch, options);
    const int64_t lost = plan.lost_events;
    QVERIFY(lost > 0);
    plan.run(batch, options);
    QCOMPARE(plan.lost_events, 2 * lost);
    set_figures_at_end(plan, figures);
    QCOMPARE(figures.warnings.size(), size_t{1});
    const std::string& warning = figures.warnings[0];
    QVERIFY2(warning.find("steps of plan \"baseline\" left no event") != std::string::npos, warning.c_str());
  }
};
STORMCELL_TEST(RunSummaryTest)

}  // namespace stormcell::testing
#include "run_summary_test.moc"
