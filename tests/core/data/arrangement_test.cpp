#include "core/data/arrangement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/testing/testing.h"

using namespace stormcell;

class ArrangementTest : public QObject {
  Q_OBJECT
 private slots:
  void every_item_lies_in_one_batch() {
    std::vector<ItemLength> lengths;
    for (int32_t i = 0; i < 1003; ++i) lengths.push_back({i * 37 % 101 + 1, i * 11 % 7 + 1});
    const Arrangement like = Arrangement::by_length(lengths, 8);
    QCOMPARE(like.batches(), int64_t{126});
    QVERIFY(!like.is_as_given());
    std::vector<int64_t> all;
    int64_t partial = 0;
    for (int64_t b = 0; b < like.batches(); ++b) {
      const std::vector<int64_t> items = like.items_of(b);
      partial += items.size() == 3;
      QVERIFY(items.size() == 3 || items.size() == 8);
      all.insert(all.end(), items.begin(), items.end());
    }
    QCOMPARE(partial, int64_t{1});
    std::sort(all.begin(), all.end());
    std::vector<int64_t> expected(1003);
    std::iota(expected.begin(), expected.end(), 0);
    QCOMPARE(all, expected);
  }

  void the_order_is_fair_to_every_split_of_the_batches() {
    for (int64_t count = 1; count < 600; ++count) {
      const std::vector<int64_t> order = spread_order(count);
      std::vector<int64_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (int64_t i = 0; i < count; ++i) QCOMPARE(sorted[static_cast<size_t>(i)], i);
      if (count < 24) continue;
      // The mean rank of the profiled batches, every fourth or the first quarter: in the middle of all, 0.5.
      double strided = 0, first = 0;
      const int64_t quarter = (count + 3) / 4;
      for (int64_t i = 0; i < count; ++i) {
        const double place = (static_cast<double>(order[static_cast<size_t>(i)]) + 0.5) / static_cast<double>(count);
        if (i % 4 == 0) strided += place / static_cast<double>(quarter);
        if (i < quarter) first += place / static_cast<double>(quarter);
      }
      QVERIFY2(std::abs(strided - 0.5) < 0.06 && std::abs(first - 0.5) < 0.06,
               (std::to_string(count) + " batches: " + std::to_string(strided) + ", " + std::to_string(first)).c_str());
    }
  }
};

STORMCELL_TEST(ArrangementTest)
#include "arrangement_test.moc"
