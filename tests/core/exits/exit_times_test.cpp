// Milliseconds of exits: the mean over items is the mean over their batches, whole ones, ended ones and those of
// another size.
#include "core/exits/exit_times.h"

#include <cmath>

#include "tests/testing/testing.h"

using namespace stormcell;

class ExitTimesTest : public QObject {
  Q_OBJECT
 private slots:
  void the_mean_over_items_is_the_mean_over_batches() {
    // Four items of a full batch, one of the last, two of a batch of larger pictures.
    const ExitTimes times{{0, {4, 8}}, {1, {9, 9}}, {2, {1, 3}}, {5, {10, 30}}};
    const std::vector<int64_t> batch{0, 0, 0, 0, 2, 5, 5};
    const std::vector<std::vector<double>> cost = item_milliseconds(times, batch);
    QCOMPARE(cost.size(), size_t{2});
    QCOMPARE(cost[0].size(), batch.size());
    const auto mean = [&](const std::vector<size_t>& exit) {
      double sum = 0;
      for (size_t i = 0; i < exit.size(); ++i) sum += cost[exit[i]][i];
      return sum / static_cast<double>(exit.size());
    };
    const auto is = [](double a, double b) { return std::fabs(a - b) < 1e-12; };
    QVERIFY(is(mean({0, 0, 0, 0, 0, 0, 0}), (4 + 1 + 10) / 3.0));
    QVERIFY(is(mean({1, 1, 1, 1, 1, 1, 1}), (8 + 3 + 30) / 3.0));
    QVERIFY(is(mean({0, 1, 0, 1, 1, 1, 0}), (6 + 3 + 20) / 3.0));
  }

  void without_items_there_is_nothing() { QVERIFY(item_milliseconds({{0, {1, 2}}}, {}).empty()); }
};

STORMCELL_TEST(ExitTimesTest)
#include "exit_times_test.moc"
