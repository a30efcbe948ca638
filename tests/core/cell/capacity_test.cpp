#include "core/cell/capacity.h"

#include <numeric>

#include "tests/core/cell/decision_memory.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using testing::Decision;

const std::vector<int32_t> kGrid = {2, 4, 8, 16, 32, 512};
}  // namespace

class CapacityTest : public QObject {
  Q_OBJECT
 private slots:
  void capacity_keeps_the_first_cells_of_each_parent() {
    Decision d(8, 1, 2);
    set_choices(d, {0, 0, 0, 1, 0, 1, 1, 1});
    serve_first(*d, 8, {4, nullptr}, 2);
    QCOMPARE(d.choices(8), (std::vector<int32_t>{0, 0, ~0, 1, 0, 1, 1, ~1}));
  }
  void capacity_over_parents_of_different_sizes() {
    Decision d(6, 1, 1);
    set_choices(d, {0, 0, 0, 0, 0, 0});
    const int32_t parent[] = {3, 3, 3, 8, 9, 9};
    serve_first(*d, 6, {0, parent}, 1);
    QCOMPARE(d.choices(6), (std::vector<int32_t>{0, ~0, ~0, 0, 0, ~0}));
  }
  void capacity_counts_each_choice_of_a_cell() {
    Decision d(3, 2, 2);
    set_choices(d, {0, 1, 1, 0, 0, kNoBranch});
    serve_first(*d, 3, {}, 1);
    QCOMPARE(d.choices(3), (std::vector<int32_t>{0, 1, ~1, ~0, ~0, kNoBranch}));
  }

  void capacity_is_the_even_share_times_the_factor() {
    QCOMPARE(capacity_of(1.0, 8, 4), 2);
    QCOMPARE(capacity_of(1.0, 9, 4), 3);   // the share is rounded up,
    QCOMPARE(capacity_of(1.25, 9, 4), 3);  // the product down
    QCOMPARE(capacity_of(0.5, 2, 4), 0);
    QCOMPARE(capacity_of(2.0, 0, 4), 0);
    for (const double factor : {1e6, 1e9, 1e300}) QCOMPARE(capacity_of(factor, 7680, 16), 7680);  // beyond 32 bits
  }
  void the_most_confident_cells_of_the_batch_are_served() {
    Decision d(5, 1, 2);
    set_choices(d, {0, 0, 1, 0, 1});
    const float confidence[] = {0.5f, 0.9f, 0.2f, 0.5f, 0.7f};
    std::copy_n(confidence, 5, d->choice_weight);
    serve_most_confident(*d, 5, 1);
    QCOMPARE(d.choices(5), (std::vector<int32_t>{~0, 0, ~1, ~0, 1}));
    set_choices(d, {0, 0, 1, 0, 1});
    std::copy_n(confidence, 5, d->choice_weight);
    serve_most_confident(*d, 5, 2);  // of equal confidence the first
    QCOMPARE(d.choices(5), (std::vector<int32_t>{0, 0, 1, ~0, 1}));
  }

  // The capacity rules of Brainstorm's artifact (OSDI'23).
  void padded_load_follows_the_table_data() {
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("none");
    QTest::addColumn<int>("clamped");
    QTest::addColumn<int>("padded");
    QTest::newRow("0") << 0 << 0 << 0 << 0;
    QTest::newRow("1") << 1 << 1 << 1 << 2;
    QTest::newRow("2") << 2 << 2 << 2 << 2;
    QTest::newRow("3") << 3 << 3 << 3 << 4;
    QTest::newRow("5") << 5 << 5 << 5 << 8;
    QTest::newRow("33") << 33 << 33 << 33 << 512;
    QTest::newRow("512") << 512 << 512 << 512 << 512;
    QTest::newRow("513") << 513 << 513 << 512 << 512;
  }
  void padded_load_follows_the_table() {
    QFETCH(int, n);
    QFETCH(int, none);
    QFETCH(int, clamped);
    QFETCH(int, padded);
    QCOMPARE(padded_load(n, 0, {}), none);
    QCOMPARE(padded_load(n, 0, {kGrid, false, false}), clamped);
    QCOMPARE(padded_load(n, 0, {kGrid, true, false}), padded);
    QCOMPARE(padded_load(n, 3, {kGrid, true, true}), 16);  // path-wise: always the branch's own
  }
  void padded_load_is_the_smallest_entry_that_holds_n() {
    for (int32_t n = 1; n < 600; ++n) {
      int32_t expected = kGrid.back();
      for (auto it = kGrid.rbegin(); it != kGrid.rend(); ++it)
        if (*it >= n) expected = *it;
      QCOMPARE(padded_load(n, 0, {kGrid, true, false}), expected);
    }
  }
  // By the capacity classes of Brainstorm's artifact (OSDI'23): loads [3,0,30,500,2] fall in the classes 4, -, 32, 512,
  // 2: 550 rows.
  void loads_fall_into_capacity_classes() {
    const std::vector<int32_t> loads = {3, 0, 30, 500, 2}, expected = {4, 0, 32, 512, 2};
    std::vector<int32_t> choices;
    for (int32_t b = 0; b < 5; ++b)
      choices.insert(choices.end(), static_cast<size_t>(loads[static_cast<size_t>(b)]), b);
    Decision d(static_cast<int64_t>(choices.size()), 1, 5);
    set_choices(d, choices);
    index_decision(*d, static_cast<int64_t>(choices.size()));
    pad_loads(*d, {kGrid, true, false});
    QCOMPARE(std::vector<int32_t>(d->padded, d->padded + 5), expected);
    QCOMPARE(std::accumulate(expected.begin(), expected.end(), 0), 550);
  }
};

STORMCELL_TEST(CapacityTest)

}  // namespace stormcell

#include "capacity_test.moc"
