// The batches whose time stands for all.
#include "core/measuring/first_batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class FirstBatchesTest : public QObject {
  Q_OBJECT
 private slots:
  /// Lengths that grow along the data: the mean of the batches that are timed is that of all.
  void batches_to_time_are_evenly_spread() {
    for (const int64_t batches : {1, 2, 3, 8, 9, 24, 210, 1001}) {
      const std::vector<int64_t> some = batches_to_time(batches, 0);
      QCOMPARE(std::ssize(some), std::min<int64_t>(batches, 8));
      QVERIFY(std::is_sorted(some.begin(), some.end()) && some.front() >= 0 && some.back() < batches);
      QVERIFY(std::adjacent_find(some.begin(), some.end()) == some.end());
      const double mean = std::accumulate(some.begin(), some.end(), 0.0) / static_cast<double>(some.size()),
                   of_all = static_cast<double>(batches - 1) / 2;
      QVERIFY2(std::abs(mean - of_all) <= 0.5, std::to_string(batches).c_str());
    }
  }

  /// A further size would be compiled within the time of its batch.
  void of_pictures_of_several_sizes_the_second_batch_counts() {
    QCOMPARE(batches_to_time(24, 3), std::vector<int64_t>{1});
    QCOMPARE(batches_to_time(1, 3), std::vector<int64_t>{0});
    QCOMPARE(batches_to_time(24, 1).size(), size_t{8});
  }
};

STORMCELL_TEST(FirstBatchesTest)

}  // namespace stormcell::testing

#include "first_batches_test.moc"
