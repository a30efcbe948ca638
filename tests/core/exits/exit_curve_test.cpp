// The curve of thresholds suits any range of confidences: of ten classes, of a thousand, of answers that are all sure.
#include "core/exits/exit_curve.h"

#include <cmath>
#include <limits>
#include <set>

#include "core/summary/exits_text.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

/// Two exits before the end; item i of n is as sure as confidence(i / n), at the second exit more so.
template <class Confidence>
ExitRecord record_of(int64_t items, Confidence confidence) {
  ExitRecord r;
  r.chain.tests = {{"a", {}}, {"b", {}}}, r.chain.costs = {0.3, 0.7, 1};
  for (ExitTest& test : r.chain.tests) test.rule.threshold = 0.9F;
  r.operations[PictureSize{}] = r.baseline_operations[PictureSize{}] = {3, 7, 10};
  r.task = quality_task(Task::classification);
  r.confidence.resize(2), r.scores.resize(3);
  for (int64_t i = 0; i < items; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(items);
    r.confidence[0].push_back(static_cast<float>(confidence(at)));
    r.confidence[1].push_back(static_cast<float>(confidence(std::sqrt(at))));
    for (auto& of_exit : r.scores) of_exit.push_back({i, 1, 1, 0});
    r.batch.push_back(i / 8);
    r.size.emplace_back();
  }
  r.classes = {"0"}, r.item = "item";
  return r;
}

/// Different ways in which the items leave.
size_t divisions(const ExitCurve& c) {
  std::set<std::vector<int64_t>> seen;
  for (const ExitPoint& p : c.curve) seen.insert(p.items);
  return seen.size();
}

}  // namespace

class ExitCurveTest : public QObject {
  Q_OBJECT
 private slots:
  void any_range_of_confidences_gives_points_from_end_to_end() {
    for (const auto& [least, most] : {std::pair{0.1, 1.0}, {0.002, 0.06}, {0.99990, 0.99999}}) {
      const ExitCurve c = exit_curve(
          record_of(500, [&, &least = least, &most = most](double at) { return least + (most - least) * at; }));
      QVERIFY2(c.curve.size() > 20 && c.curve.size() <= 30,
               qPrintable(QString("%1: %2").arg(least).arg(c.curve.size())));
      QVERIFY2(divisions(c) > 20, qPrintable(QString("%1: %2").arg(least).arg(divisions(c))));
      QVERIFY(c.curve.front().items == (std::vector<int64_t>{500, 0, 0}) &&
              c.curve.back().items == (std::vector<int64_t>{0, 0, 500}));
      for (size_t p = 1; p < c.curve.size(); ++p) {
        QVERIFY(c.curve[p].threshold > c.curve[p - 1].threshold && c.curve[p].mean_cost >= c.curve[p - 1].mean_cost);
        // No part of the way is left out.
        QVERIFY2(c.curve[p].mean_cost - c.curve[p - 1].mean_cost < 0.15,
                 qPrintable(QString::number(c.curve[p].threshold)));
      }
    }
  }

  void equal_and_broken_confidences_give_the_points_that_there_are() {
    const auto sure = exit_curve(record_of(40, [](double) { return 1.0; }));
    QCOMPARE(divisions(sure), size_t{2});
    QCOMPARE(sure.curve.front().threshold, 0.0);
    QCOMPARE(sure.curve.back().threshold, 2.0);
    const auto broken = exit_curve(record_of(40, [](double) { return std::numeric_limits<double>::quiet_NaN(); }));
    QCOMPARE(broken.curve.size(), size_t{2});
    const auto two = exit_curve(record_of(40, [](double at) { return at < 0.5 ? 0.25 : 0.5; }));
    QVERIFY(divisions(two) == 3 || divisions(two) == 4);
    QVERIFY(two.curve.size() == 3 && two.curve[1].threshold > 0.25 && two.curve[1].threshold <= 0.5);
  }

  void costs_are_those_of_the_plan_that_ran_and_the_model_s_own_order_stands_beside_them() {
    ExitRecord record = record_of(40, [](double at) { return at; });
    const ExitCurve own = exit_curve(record);
    QVERIFY(own.plan == CurvePlan::baseline && !own.exits[0].baseline_cost &&
            std::fabs(own.exits[0].cost - 0.3) < 1e-12);
    record.of_baseline = false, record.operations[PictureSize{}] = {2, 6, 10};
    const ExitCurve lazy = exit_curve(record);
    QVERIFY(lazy.plan == CurvePlan::optimized && std::fabs(lazy.exits[0].cost - 0.2) < 1e-12 &&
            lazy.exits[2].cost == 1);
    QVERIFY(std::fabs(lazy.exits[0].baseline_cost.value() - 0.3) < 1e-12 &&
            lazy.chosen.mean_cost < own.chosen.mean_cost);
    QVERIFY(exits_sentence(lazy).find(
                " of the operations of the whole network as the optimised plan runs, accuracy ") != std::string::npos);
    RunSummaryFigures f;
    f.model.name = "demo:digits", f.exits = lazy;
    const std::string headline = exits_headline(f);
    QVERIFY2(headline.starts_with("digits answers ") && headline.ends_with(" at the first exit"), headline.c_str());
    QVERIFY(exits_needs_text(lazy).starts_with("needs "));
    QVERIFY(exits_needs_text(lazy).ends_with(" of the operations of the whole network as the optimised plan runs"));
    QVERIFY(exit_order_text(own).find("in the model's own order; optimize lets work") != std::string::npos);
  }

  /// The exits at which items leave are counted over all items, and how good their answers are of those that can be judged.
  void items_without_a_label_are_counted_and_not_judged() {
    ExitRecord some = record_of(40, [](double at) { return at; });
    for (auto& of_exit : some.scores)
      for (size_t i = 0; i < 33; ++i) of_exit[i] = {static_cast<int64_t>(i), 0, 0};
    const ExitCurve whole = exit_curve(record_of(40, [](double at) { return at; })), part = exit_curve(some);
    QCOMPARE(part.items, int64_t{40});
    QCOMPARE(part.judged, int64_t{7});
    QVERIFY(part.chosen.items == whole.chosen.items && part.chosen.mean_cost == whole.chosen.mean_cost &&
            part.chosen.value == 1);
    QVERIFY(part.exits[2].items > 0 && !part.exits[2].value);  // those that go to the end are unlabelled
    QCOMPARE(some.judged_of({3, 4}), (std::vector<size_t>{33, 34, 35, 36, 37, 38, 39}));
    const std::string sentence = exits_sentence(part);
    QVERIFY2(sentence.find(" of 40 items answer at exit 1") != std::string::npos &&
                 sentence.find(", accuracy 100.0 % of the 7 that can be judged; ") != std::string::npos,
             sentence.c_str());
    for (auto& of_exit : some.scores)
      for (size_t i = 0; i < 40; ++i) of_exit[i] = {static_cast<int64_t>(i), 0, 0};
    const ExitCurve none = exit_curve(some);
    QVERIFY(none.chosen.items == whole.chosen.items && none.judged == 0 && none.classes.empty() && !none.chosen.value &&
            !none.exits[0].value_of_all && none.curve.size() == whole.curve.size());
    QVERIFY(exits_sentence(none).ends_with(" of the operations of the whole network in the model's own order"));
  }
};

STORMCELL_TEST(ExitCurveTest)
#include "exit_curve_test.moc"
