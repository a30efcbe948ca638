#include "core/runtime/relative_bucket.h"

#include <QTest>
#include <algorithm>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
namespace {

/// From transformers 4.56.2, T5Attention._relative_position_bucket (the same as Switch's) over distances 0 .. 2999: the
/// first distance of each bucket of keys before the query; buckets of keys after it follow in the bidirectional case.
struct Table {
  bool bidirectional;
  int buckets, max_distance;
  std::vector<int> first;
};
const Table kTables[] = {
    {true, 32, 128, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91}},
    {false, 32, 128, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                      16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}},
    {true, 32, 20, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 18}},
    {false, 64, 256, {0,  1,  2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,
                      16, 17, 18,  19,  20,  21,  22,  23,  24,  25,  26,  27,  28,  29,  30,  31,
                      32, 35, 37,  39,  42,  45,  48,  51,  54,  58,  62,  66,  70,  75,  80,  85,
                      91, 97, 104, 110, 118, 126, 134, 143, 153, 163, 174, 185, 198, 211, 225, 240}},
    {false, 16, 1000, {0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 27, 49, 90, 164, 300, 547}},
};

}  // namespace

class RelativeBucketTest : public QObject {
  Q_OBJECT
 private slots:
  void equals_transformers_for_every_distance() {
    for (const Table& t : kTables)
      for (int distance = 0; distance < 3000; ++distance) {
        const int before =
            static_cast<int>(std::upper_bound(t.first.begin(), t.first.end(), distance) - t.first.begin()) - 1;
        QCOMPARE(relative_bucket(-distance, t.bidirectional, t.buckets, t.max_distance), before);
        const int after = distance == 0 ? 0 : t.bidirectional ? before + t.buckets / 2 : 0;
        QCOMPARE(relative_bucket(distance, t.bidirectional, t.buckets, t.max_distance), after);
      }
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::RelativeBucketTest;
STORMCELL_TEST(RelativeBucketTest)
#include "relative_bucket_test.moc"
