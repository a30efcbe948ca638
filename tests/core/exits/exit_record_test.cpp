// The record of a run with items of several sizes: each costs the operations of its own.
#include "core/exits/exit_record.h"

#include <cmath>

#include "core/models/model.h"
#include "core/quality/task.h"
#include "tests/testing/testing.h"

using namespace stormcell;

class ExitRecordTest : public QObject {
  Q_OBJECT

  /// Two small pictures and a large one, of four times the operations.
  static ExitRecord record() {
    ExitRecord r;
    r.chain.tests = {{"exit", {}}}, r.chain.costs = {0.5, 1}, r.chain.whole = 8;
    r.task = quality_task(Task::classification);
    r.confidence = {{0.9F, 0.8F, 0.7F}};
    for (int exit = 0; exit < 2; ++exit) {
      std::vector<ItemScore>& of = r.scores.emplace_back();
      for (int i = 0; i < 3; ++i) {
        of.emplace_back();
        of.back().item = i, of.back().part = 1, of.back().whole = 1;
      }
    }
    r.batch = {0, 0, 1};
    r.operations = {{{16, 16}, {1, 2}}, {{32, 32}, {4, 8}}};
    r.size = {{16, 16}, {16, 16}, {32, 32}};
    return r;
  }

 private slots:
  void mean_operations_are_those_of_each_item_s_size() {
    const ExitRecord r = record();
    QVERIFY(std::fabs(r.point({0, 1, 2}, {1, 1, 0}).mean_cost - 8.0 / 12) < 1e-12);
    QVERIFY(std::fabs(r.point({0, 1, 2}, {0, 0, 1}).mean_cost - 10.0 / 12) < 1e-12);
    QCOMPARE(r.point({0, 2}, {1, 1}).mean_cost, 1.0);
    QCOMPARE(r.point({}, {}).mean_cost, 1.0);
  }

  void the_search_sees_the_same() {
    const ExitRecord r = record();
    QCOMPARE(r.relative_operations({0, 2}), (std::vector<std::vector<double>>{{0.2, 0.8}, {0.4, 1.6}}));
    QCOMPARE(r.exit_case({0, 2}, {{3, 3}, {7, 7}}).cost, (std::vector<std::vector<double>>{{3, 3}, {7, 7}}));
  }
};
STORMCELL_TEST(ExitRecordTest)
#include "exit_record_test.moc"
