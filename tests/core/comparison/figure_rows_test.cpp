// Rows of figures by their paths: direction, origin, unit, and what withholds them.
#include "core/comparison/figure_rows.h"

#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class FigureRowsTest : public QObject {
  Q_OBJECT
 private slots:
  void every_figure_has_its_row() {
    struct Row {
      const char* figure;
      Better better;
      Origin origin;
      Scope scope;
    };
    const std::vector<Row> rows = {
        {"optimized.latency_ms.mean", Better::less, Origin::measured, Scope::work},
        {"baseline.latency_ms.runs", Better::neither, Origin::measured, Scope::work},
        {"operators.baseline.linear.ms_per_batch", Better::less, Origin::measured, Scope::work},
        {"operators.baseline.linear.limit_ms_per_batch", Better::neither, Origin::measured, Scope::work},
        {"operators.baseline.linear.steps_per_batch", Better::neither, Origin::counted, Scope::work},
        {"decode.optimized.tokens_per_s", Better::more, Origin::measured, Scope::work},
        {"passes.dead-path.speedup_own", Better::more, Origin::measured, Scope::work},
        {"decode.passes.dead-path.speedup_own", Better::more, Origin::measured, Scope::work},
        {"load_seconds", Better::less, Origin::measured, Scope::time},
        {"record_work", Better::neither, Origin::measured, Scope::time},
        {"peak_resident_bytes", Better::neither, Origin::measured, Scope::run},
        {"device.peak_gflops_before_and_after.1", Better::neither, Origin::measured, Scope::run},
        {"weight_budget.reads", Better::neither, Origin::counted, Scope::sum},
        {"weight_budget.stall_seconds", Better::neither, Origin::measured, Scope::sum},
        {"optimized.peak_weight_bytes", Better::less, Origin::counted, Scope::run},
        {"routing.a.b.imbalance", Better::less, Origin::counted, Scope::run},
        {"routing.seconds.load.3", Better::neither, Origin::counted, Scope::run},
        {"verified.passed", Better::more, Origin::counted, Scope::run},
        {"exits.exits.0.value", Better::neither, Origin::counted, Scope::run},
        {"layouts.joint.fit.objective", Better::neither, Origin::predicted, Scope::run},
        {"layouts.joint.held_out.imbalance", Better::less, Origin::counted, Scope::run},
        {"phases.0.layouts.joint.fit.step_ms.p95", Better::neither, Origin::predicted, Scope::time},
        {"routing.layer.3.balancedness", Better::neither, Origin::counted, Scope::run},
        {"nonsense", Better::neither, Origin::unknown, Scope::run}};
    for (const Row& row : rows) {
      const Figure& figure = figure_of(row.figure);
      QVERIFY2(figure.better == row.better, row.figure);
      QVERIFY2(figure.origin == row.origin && figure.scope == row.scope, row.figure);
    }
  }

  void a_name_of_a_router_or_a_pass_decides_nothing() {
    for (const char* name : {"latency_ms", "a.seconds", "speedup", "peak_resident_bytes"})
      QVERIFY2(figure_of("routing." + std::string(name) + ".cells").origin == Origin::counted, name);
  }

  void a_figure_without_a_row_is_not_judged() {
    QVERIFY(needs_interval(figure_of("a_key.of.tomorrow").origin));
    QVERIFY(needs_interval(Origin::measured) && !needs_interval(Origin::counted) && !needs_interval(Origin::predicted));
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

STORMCELL_TEST(FigureRowsTest)

}  // namespace stormcell::testing

#include "figure_rows_test.moc"
