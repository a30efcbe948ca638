// Scales of the heatmap: the one that opens, ticks, and words where a part of the data is shown.
#include <cmath>

#include "tests/testing/testing.h"
#include "views/heatmap/heatmap_model.h"

namespace stormcell::views {
namespace {

LoadWindows scaled_loads() {
  LoadWindows w;
  w.run = 1, w.batches = 2, w.windows = 2;
  w.routers.push_back({{"a", "encoder", "switch-top1", "token", 3, 1, -1, -1},
                       {10, 10},
                       {4, 6, 0, 2, 8, 0},
                       {0, 0, 0, 0, 0, 0},
                       {1, 0, 0, 0, 0, 0},
                       {2, 3, 0, 1, 4, 0}});
  w.routers.push_back({{"b", "encoder", "switch-top1", "token", 2, 1, -1, -1},
                       {0, 0},
                       {0, 0, 0, 0},
                       {0, 0, 0, 0},
                       {0, 0, 0, 0},
                       {0, 0, 0, 0}});
  return w;
}

}  // namespace

class HeatmapScaleTest : public QObject {
  Q_OBJECT
 private slots:
  void the_median_branch_is_seen_on_the_scale_that_opens() {
    LoadWindows data = scaled_loads();
    std::vector<int64_t> load(128, 40);
    load[5] = 9000;
    data.windows = 1;
    data.routers = {{{"wide", "encoder", "top-k", "token", 128, 1, -1, -1}, {14080}, load, {}, {}, {}}};
    QCOMPARE(readable_scale(data, {0, 1}, {HeatMetric::load}, 0), HeatScale::logarithmic);
    const HeatMatrix m = make_matrix(data, {0, 1}, {HeatMetric::load, HeatScale::logarithmic});
    QVERIFY(m.rows[0].tone[0] > 0.15F);
    QCOMPARE(readable_scale(data, {0, 1}, {HeatMetric::imbalance}, 0), HeatScale::common);
    data.routers[0].load.assign(128, 40);
    QCOMPARE(readable_scale(data, {0, 1}, {HeatMetric::load}, 0), HeatScale::common);
  }

  void every_scale_has_ticks_at_its_ends_and_between() {
    const LoadWindows data = scaled_loads();
    for (const HeatMetric metric : {HeatMetric::load, HeatMetric::share, HeatMetric::imbalance})
      for (const HeatScale scale : {HeatScale::common, HeatScale::per_router, HeatScale::logarithmic}) {
        const HeatMatrix m = make_matrix(data, {0, 2}, {metric, scale});
        const std::vector<ScaleTick> ticks = scale_ticks(m, 4);
        QVERIFY(ticks.size() >= 3);
        QCOMPARE(ticks.front().at, 0.0);
        QCOMPARE(ticks.back().at, 1.0);
        for (size_t i = 1; i < ticks.size(); ++i)
          QVERIFY(ticks[i].at > ticks[i - 1].at && ticks[i].value > ticks[i - 1].value);
      }
    // A tick stands where the tone of its figure is.
    const HeatMatrix log = make_matrix(data, {0, 2}, {HeatMetric::load, HeatScale::logarithmic}, 14000);
    const std::vector<ScaleTick> decades = scale_ticks(log, 4);
    QCOMPARE(decades.size(), size_t{4});
    QVERIFY(std::abs(decades[0].value - 14) < 1e-9 && std::abs(decades[2].value - 1400) < 1e-9);
  }

  void a_part_of_the_data_is_named_as_one() {
    QCOMPARE(part_of_data_text(12, 12, 210),
             QString("Only 12 of 210 batches: a branch that is empty here may have cells in the others."));
    QVERIFY(part_of_data_text(3, 12, 0).startsWith("Only 3 of 12 batches"));
    QVERIFY(part_of_data_text(12, 12, 12).isEmpty() && part_of_data_text(12, 12, 0).isEmpty());
  }
};
STORMCELL_TEST(HeatmapScaleTest)

}  // namespace stormcell::views
#include "heatmap_scale_test.moc"
