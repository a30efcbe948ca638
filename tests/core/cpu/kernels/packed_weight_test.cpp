#include "core/cpu/kernels/packed_weight.h"

#include <QTest>
#include <span>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class PackedWeightTest : public QObject {
  Q_OBJECT
 private slots:
  void every_element_has_its_place_and_the_rest_is_zero() {
    for (const DType to : {DType::f32, DType::bf16})
      for (const int64_t n : {1, 63, 64, 65, 200})
        for (const int64_t k : {1, 2, 63, 64, 65, 131}) {
          const Floats w = random_floats(static_cast<size_t>(n * k), 1),
                       scale = random_floats(static_cast<size_t>(k), 2);
          Scratch out(packed_bytes(n, k, to), std::byte{0x77});
          StoredWeight from{w.data(), DType::f32, n, k};
          from.column_scale = scale.data();
          pack(from, to, out.data(), 0, 1);  // in two pieces
          pack(from, to, out.data(), 1, panel_count(n));
          QVERIFY(out.intact());
          const int64_t room = to == DType::bf16 ? (k + 1) / 2 * 2 : k;
          for (int64_t column = 0; column < panel_count(n) * 64; ++column)
            for (int64_t i = 0; i < room; ++i) {
              const float expected =
                  column < n && i < k ? w[static_cast<size_t>(column * k + i)] * scale[static_cast<size_t>(i)] : 0.0f;
              const int64_t panel = column / 64, c = column % 64;
              if (to == DType::f32) {
                QCOMPARE(reinterpret_cast<float*>(out.data())[(panel * k + i) * 64 + c], expected);
              } else {
                QCOMPARE(reinterpret_cast<uint16_t*>(out.data())[panel * room * 64 + i / 2 * 128 + c * 2 + i % 2],
                         f32_to_bf16(expected));
              }
            }
        }
  }

  void stored_formats_and_transposed_files_give_the_same_panels() {
    const int64_t n = 70, k = 37;
    Floats w = random_floats(static_cast<size_t>(n * k), 3), transposed(static_cast<size_t>(n * k));
    for (float& v : std::span(w.data(), w.size()))
      v = f16_to_f32(f32_to_f16(bf16_to_f32(f32_to_bf16(v))));  // exact in all three formats
    for (int64_t c = 0; c < n; ++c)
      for (int64_t i = 0; i < k; ++i) transposed[static_cast<size_t>(i * n + c)] = w[static_cast<size_t>(c * k + i)];
    Scratch expected(packed_bytes(n, k, DType::f32));
    pack({w.data(), DType::f32, n, k}, DType::f32, expected.data(), 0, panel_count(n));
    for (const DType stored : {DType::f32, DType::f16, DType::bf16})
      for (const bool is_transposed : {false, true}) {
        std::vector<std::byte> file(w.size() * element_size(stored));
        from_f32((is_transposed ? transposed : w).data(), file.data(), stored, w.size());
        Scratch out(packed_bytes(n, k, DType::f32));
        pack({file.data(), stored, n, k, is_transposed}, DType::f32, out.data(), 0, panel_count(n));
        QVERIFY2(out == expected, to_text(stored).data());
      }
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::PackedWeightTest;
STORMCELL_TEST(PackedWeightTest)
#include "packed_weight_test.moc"
