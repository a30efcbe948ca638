// Figures of time: what is noise, and what is only a difference between batches.
#include "core/experiment/measure.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {

class MeasureTest : public QObject {
  Q_OBJECT

 private slots:
  void batches_of_different_length_are_no_noise() {
    std::vector<double> ms;
    for (int round = 0; round < 10; ++round) ms.insert(ms.end(), {1.0, 50.0, 7.0});
    QCOMPARE(repeat_spread(ms, 3), 1.0);
  }

  void a_batch_that_takes_longer_now_and_then_is() {
    std::vector<double> ms;
    for (int round = 0; round < 10; ++round) ms.insert(ms.end(), {1.0, round % 4 == 0 ? 150.0 : 50.0});
    QCOMPARE(repeat_spread(ms, 2), 3.0);
  }

  void what_was_not_repeated_has_no_spread() { QCOMPARE(repeat_spread({1, 2, 3}, 3), 1.0); }

  void where_not_all_batches_fit_every_nth_is_measured() {
    QCOMPARE(measured_batches(6, 1, 2, 3, 1e6), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
    // Of 100 batches of 1 ms each, four rounds of two plans in 0.4 s: half of them.
    QCOMPARE(measured_batches(100, 100, 2, 3, 0.4).size(), size_t{50});
    QCOMPARE(measured_batches(3, 1e9, 2, 3, 0).size(), size_t{1});
  }
};

STORMCELL_TEST(MeasureTest)

}  // namespace stormcell::testing

#include "measure_test.moc"
