// The table of figures: their direction, how they were measured, and what withholds them.
#include "core/comparison/figure_kinds.h"

#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class FigureKindsTest : public QObject {
  Q_OBJECT
 private slots:
  void every_figure_has_its_row() {
    struct Row {
      const char* figure;
      Better better;
      bool measured, of_phase, of_time, sum;
    };
    const std::vector<Row> rows = {
        {"optimized.latency_ms.mean", Better::less, true, true, true, false},
        {"baseline.latency_ms.runs", Better::neither, true, true, true, false},
        {"operators.baseline.linear.ms_per_batch", Better::less, true, true, true, false},
        {"operators.baseline.linear.limit_ms_per_batch", Better::neither, true, true, true, false},
        {"optimized.cells_per_s", Better::more, true, true, true, false},
        {"decode.optimized.tokens_per_s", Better::more, true, true, true, false},
        {"optimized.limit_share", Better::more, true, true, true, false},
        {"speedup", Better::more, true, true, true, false},
        {"passes.dead-path.speedup_own", Better::more, true, true, true, false},
        {"exit_target.speedup_over_model", Better::more, true, true, true, false},
        {"routing_speedup", Better::more, true, true, true, false},
        {"between_spread", Better::neither, true, false, false, false},
        {"load_seconds", Better::less, true, false, true, false},
        {"measured_again_seconds", Better::neither, true, false, true, false},
        {"record_overhead", Better::less, true, false, true, false},
        {"record_work", Better::neither, false, false, true, false},
        {"steps_per_batch", Better::neither, false, true, true, false},
        {"device.peak_gflops", Better::neither, true, false, false, false},
        {"peak_resident_bytes", Better::neither, true, false, false, false},
        {"baseline.weights_read.reads", Better::less, true, true, true, false},
        {"baseline.weights_read.bytes_read", Better::less, true, true, true, false},
        {"weight_budget.reads", Better::neither, false, false, false, true},
        {"weight_budget.measured_bytes_read", Better::less, false, false, false, true},
        {"weight_budget.stall_seconds", Better::neither, true, false, true, true},
        {"weight_budget.budget_bytes", Better::neither, false, false, false, false},
        {"weight_budget.held_bytes", Better::neither, true, false, false, false},
        {"optimized.peak_weight_bytes", Better::less, false, false, false, false},
        {"unloaded_weight_bytes", Better::more, false, false, false, false},
        {"baseline.states.taken_pages", Better::less, false, false, false, false},
        {"routing.a.b.imbalance", Better::less, false, false, false, false},
        {"verified.explained_flips", Better::less, false, false, false, false},
        {"verified.passed", Better::more, false, false, false, false},
        {"quality.optimized.value", Better::more, false, false, false, false},
        {"exits.exits.0.value", Better::neither, false, false, false, false},
        {"nonsense", Better::neither, false, false, false, false}};
    for (const Row& row : rows) {
      QVERIFY2(better_of(row.figure) == row.better, row.figure);
      QVERIFY2(is_measured(row.figure) == row.measured, row.figure);
      QVERIFY2(is_of_phase(row.figure) == row.of_phase && is_of_time(row.figure) == row.of_time, row.figure);
      QVERIFY2(is_sum_of_executions(row.figure) == row.sum, row.figure);
    }
  }

  void a_gain_knows_the_key_of_its_reason() {
    for (const char* key :
         {"speedup", "speedup_ci95", "speedup_ci95[1]", "speedup_alone", "speedup_own_ci95[0]", "speedup_cumulative"})
      QVERIFY2(withheld_by(key) == "speedup_withheld", key);
    QVERIFY(withheld_by("routing_speedup_ci95") == "routing_speedup_withheld");
    QVERIFY(withheld_by("speedup_over_model") == "speedup_over_model_withheld");
    for (const char* key : {"predicted_speedup", "speedup_basis", "speedup_withheld", "mean", ""})
      QVERIFY2(withheld_by(key).empty(), key);
  }
};

STORMCELL_TEST(FigureKindsTest)

}  // namespace stormcell::testing

#include "figure_kinds_test.moc"
