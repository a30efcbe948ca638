#include "core/cpu/kernels/dispatch_combine.h"

#include <QTest>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class DispatchCombineTest : public QObject {
  Q_OBJECT
 private slots:
  void gathered_rows_are_the_cells_rows() {
    for (const int64_t d : {1, 17, 768}) {
      const Floats x = random_floats(static_cast<size_t>(40 * d), 1);
      std::vector<int32_t> cells;
      for (int32_t s = 0; s < 100; ++s) cells.push_back(s * 11 % 40);
      ThreadTeam team(3);
      Floats y(static_cast<size_t>(100 * d));
      gather_rows(team, x.data(), d, cells.data(), 100, y.data());
      QVERIFY(y.intact());
      for (size_t i = 0; i < y.size(); ++i)
        QCOMPARE(y[i], x[static_cast<size_t>(cells[i / static_cast<size_t>(d)] * d) + i % static_cast<size_t>(d)]);
    }
  }

  void a_cell_sums_its_choices_and_dropped_ones_count_nothing() {
    const int64_t cells = 300;
    for (const int64_t d : {1, 5, 16, 65, 100})
      for (const int32_t fan_out : {1, 2, 4}) {
        const int64_t choices = cells * fan_out;
        const Floats y = random_floats(static_cast<size_t>(choices * d), 1),
                     weight = random_floats(static_cast<size_t>(choices), 2);
        const Floats residual = random_floats(static_cast<size_t>(cells * d), 3);
        std::vector<int32_t> slot_of;
        for (int32_t i = 0; i < choices; ++i)
          slot_of.push_back(i % 7 == 3 ? -1 : i * 13 % static_cast<int32_t>(choices));
        for (const bool weighted : {false, true})
          for (const bool added : {false, true}) {
            std::vector<double> expected;
            for (int64_t c = 0; c < cells; ++c)
              for (int64_t i = 0; i < d; ++i) {
                double sum = added ? residual[static_cast<size_t>(c * d + i)] : 0;
                for (int32_t j = 0; j < fan_out; ++j)
                  if (const int32_t slot = slot_of[static_cast<size_t>(c * fan_out + j)]; slot >= 0)
                    sum += (weighted ? weight[static_cast<size_t>(c * fan_out + j)] : 1.0) *
                           y[static_cast<size_t>(slot * d + i)];
                expected.push_back(sum);
              }
            for_each_isa([&](Isa isa) {
              const auto combine = [&](int threads) {
                ThreadTeam team(threads);
                Floats out(residual);
                combine_rows(team, y.data(), d, slot_of.data(), weighted ? weight.data() : nullptr, cells, fan_out,
                             added ? out.data() : nullptr, out.data());
                return out;
              };
              const Floats out = combine(1);
              const QString error = worst(out.data(), expected, kEpsilon * 4 * (fan_out + 1),
                                          QString("%1 d %2 fan-out %3").arg(to_text(isa).data()).arg(d).arg(fan_out));
              QVERIFY2(error.isEmpty() && out.intact(), qPrintable(error));
              QVERIFY(combine(3) == out);
            });
          }
      }
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::DispatchCombineTest;
STORMCELL_TEST(DispatchCombineTest)
#include "dispatch_combine_test.moc"
