// Intervals of differences: how often they hold what was planted.
#include "core/planning/paired.h"

#include <cmath>
#include <random>

#include "core/base/student_t.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class PairedTest : public QObject {
  Q_OBJECT
 private slots:
  void student_t_is_that_of_tables() {
    QVERIFY(std::fabs(student_t_95(4) - 2.776) < 0.01);
    QVERIFY(std::fabs(student_t_95(19) - 2.093) < 0.001);
    QVERIFY(std::fabs(student_t_95(1e9) - 1.95996) < 1e-4);
  }

  void a_planted_difference_lies_within_95_of_100_intervals_data() {
    QTest::addColumn<int>("parts");
    QTest::newRow("few") << 5;
    QTest::newRow("many") << 20;
  }
  void a_planted_difference_lies_within_95_of_100_intervals() {
    QFETCH(int, parts);
    constexpr int kTrials = 2000;
    constexpr double kPlanted = 0.5;
    testing::Drawn<std::mt19937> random(static_cast<uint32_t>(parts));
    // Sums of twelve even draws: normal, and the same with every library.
    const auto normal = [&] {
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.;
      return sum;
    };
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(static_cast<size_t>(parts));
      for (double& value : values) value = kPlanted + normal();
      const PairedDifference d = interval_of_parts(values.size(), [&](const std::vector<size_t>& drawn) {
        double sum = 0;
        for (const size_t i : drawn) sum += values[i];
        return sum / static_cast<double>(drawn.size());
      });
      held += d.low <= kPlanted && kPlanted <= d.high;
    }
    // 95 % and three deviations of such a count.
    QVERIFY2(std::abs(held - 0.95 * kTrials) < 3 * std::sqrt(kTrials * 0.95 * 0.05) + 0.005 * kTrials,
             std::to_string(held).c_str());
  }

  void a_partial_block_belongs_to_the_one_before() {
    QCOMPARE(block_of_step(0, 3), size_t{0});
    QCOMPARE(block_of_step(15, 17), size_t{1});
    QCOMPARE(block_of_step(16, 17), size_t{1});
    QCOMPARE(block_of_step(23, 24), size_t{2});
  }
};

STORMCELL_TEST(PairedTest)

}  // namespace stormcell::testing

#include "paired_test.moc"
