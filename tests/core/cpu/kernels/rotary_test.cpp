#include "core/cpu/kernels/rotary.h"

#include <QTest>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class RotaryTest : public QObject {
  Q_OBJECT
 private slots:
  void equals_double_loops() {
    for (const int32_t dim : {2, 6, 32, 64, 130, 256}) {
      const int32_t heads = 3;
      const int64_t rows = 11, ldx = heads * dim + 4;
      const Floats before = random_floats(static_cast<size_t>(rows * ldx), 1);
      std::vector<int32_t> positions;
      for (int32_t r = 0; r < rows; ++r) positions.push_back(r * r * 7);
      std::vector<double> expected, tolerance;
      for (size_t i = 0; i < before.size(); ++i) expected.push_back(before[i]), tolerance.push_back(1e-30);
      for (int64_t r = 0; r < rows; ++r)
        for (int32_t h = 0; h < heads; ++h)
          for (int32_t i = 0; i < dim / 2; ++i) {
            const double position = positions[static_cast<size_t>(r)],
                         angle = position * std::pow(10000.0, -2.0 * i / dim);
            const size_t a = static_cast<size_t>(r * ldx + h * dim + i), b = a + static_cast<size_t>(dim / 2);
            expected[a] = before[a] * std::cos(angle) - before[b] * std::sin(angle);
            expected[b] = before[b] * std::cos(angle) + before[a] * std::sin(angle);
            tolerance[a] = tolerance[b] = kEpsilon * (8 + 8 * std::fabs(angle));  // the angle itself is f32
          }
      for_each_isa([&](Isa isa) {
        for (const int threads : {1, 2}) {
          ThreadTeam team(threads);
          Floats x(before);
          rotate_halves(team, x.data(), ldx, rows, heads, dim, positions.data(), 10000.0f);
          const QString error =
              worst(x.data(), expected, tolerance, QString("%1 dim %2").arg(to_text(isa).data()).arg(dim));
          QVERIFY2(error.isEmpty() && x.intact(), qPrintable(error));
        }
      });
    }
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::RotaryTest;
STORMCELL_TEST(RotaryTest)
#include "rotary_test.moc"
