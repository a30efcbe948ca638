// Results stored past the caches equal those stored through them, at every alignment and length.
#include "core/cpu/kernels/non_temporal.h"

#include <QTest>
#include <cstring>
#include <vector>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/non_temporal_results.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class NonTemporalTest : public QObject {
  Q_OBJECT
 private slots:
  void large_results_are() {
    QVERIFY(!is_non_temporal(1024));
    QVERIFY(is_non_temporal(int64_t{1} << 40));
    const stormcell::testing::NonTemporalResults all;
    QVERIFY(is_non_temporal(1));
    const Floats y(64);
    QVERIFY(is_non_temporal(y.data(), 2, 32));
    QVERIFY(!is_non_temporal(y.data(), 2, 31));      // rows that begin within a line
    QVERIFY(!is_non_temporal(y.data() + 1, 1, 32));  // and a first one
  }

  void copies_begin_and_end_anywhere() {
    for_each_isa([](Isa) {
      for (int64_t from = 0; from < 20; ++from)
        for (const int64_t n : {0, 1, 3, 15, 16, 17, 40, 100}) {
          const Floats x = random_floats(120, 1);
          Floats y(static_cast<size_t>(from + n));
          kernels().copy_non_temporal(x.data(), n, y.data() + from);
          QVERIFY(y.intact());
          for (int64_t i = 0; i < from; ++i) QCOMPARE(y[static_cast<size_t>(i)], 0.0f);
          QVERIFY(std::memcmp(y.data() + from, x.data(), static_cast<size_t>(n) * sizeof(float)) == 0);
        }
    });
  }

  /// A result of several pieces, of which each writes its own part.
  void results_are_written_in_pieces() {
    const int64_t n = 2 * kPieceFloats + 100;
    for (const bool non_temporal : {false, true}) {
      Floats y(static_cast<size_t>(n));
      int64_t pieces = 0;
      bool in_place = true;
      write_result(y.data(), 7, n - 3, non_temporal, [&](int64_t begin, int64_t end, float* to) {
        ++pieces;
        in_place = in_place && to == y.data() + begin;
        for (int64_t i = begin; i < end; ++i) to[i - begin] = static_cast<float>(i);
      });
      QCOMPARE(pieces, non_temporal ? int64_t{3} : int64_t{1});
      QCOMPARE(in_place, !non_temporal);
      QVERIFY(y.intact());
      for (int64_t i = 0; i < n; ++i)
        QCOMPARE(y[static_cast<size_t>(i)], i < 7 || i >= n - 3 ? 0.0f : static_cast<float>(i));
    }
  }

  void resized_rows_have_the_same_bits() {
    const std::vector<ResizeTap> taps = {{0, 1, 0.25f}, {1, 2, 0.5f}, {2, 2, 0}, {0, 0, 0}, {1, 2, 0.75f}};
    for_each_isa([&](Isa) {
      for (const int64_t channels : {16, 48}) {
        const Floats above = random_floats(static_cast<size_t>(3 * channels), 1),
                     below = random_floats(static_cast<size_t>(3 * channels), 2);
        Floats y(taps.size() * static_cast<size_t>(channels)), past(y.size());
        ResizeTask task{above.data(), below.data(), 0.3f, taps.data(), static_cast<int64_t>(taps.size()),
                        channels,     y.data()};
        kernels().resize(task);
        task.y = past.data(), task.non_temporal = true;
        kernels().resize(task);
        QVERIFY(past.intact() && past == y && y[0] != 0);
      }
    });
  }
};
STORMCELL_TEST(NonTemporalTest)

}  // namespace stormcell::cpu::testing

#include "non_temporal_test.moc"
