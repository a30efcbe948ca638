#include "core/cpu/kernels/embedding.h"

#include <QTest>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class EmbeddingTest : public QObject {
  Q_OBJECT
 private slots:
  void rows_of_every_format() {
    for (const int64_t d : {1, 7, 16, 33, 768})
      for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
        const Floats values = random_floats(static_cast<size_t>(50 * d), 1);
        std::vector<std::byte> table(values.size() * element_size(dtype));
        from_f32(values.data(), table.data(), dtype, values.size());
        std::vector<float> stored(values.size());
        to_f32(table.data(), dtype, stored.data(), stored.size());
        std::vector<int32_t> ids;
        for (int32_t i = 0; i < 120; ++i) ids.push_back(i * 13 % 50);
        for_each_isa([&](Isa) {
          for (const int threads : {1, 3}) {
            ThreadTeam team(threads);
            Floats y(static_cast<size_t>(120 * d));
            embed_rows(team, table.data(), dtype, ids.data(), 120, d, 2.5f, y.data());
            QVERIFY(y.intact());
            for (size_t i = 0; i < y.size(); ++i) {
              const size_t row = i / static_cast<size_t>(d), c = i % static_cast<size_t>(d);
              QCOMPARE(y[i], stored[static_cast<size_t>(ids[row]) * static_cast<size_t>(d) + c] * 2.5f);
            }
          }
        });
      }
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::EmbeddingTest;
STORMCELL_TEST(EmbeddingTest)
#include "embedding_test.moc"
