// Conversions of numbers: exact where the format holds the number, to the nearest, ties to even, where it does not.
#include "core/base/dtype.h"

#include <cmath>
#include <limits>

#include "tests/testing/testing.h"

using namespace stormcell;

class DtypeTest : public QObject {
  Q_OBJECT

 private slots:
  void every_half_comes_back() {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      const float value = f16_to_f32(half);
      const bool is_nan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
      QCOMPARE(std::isnan(value), is_nan);
      if (is_nan)
        QVERIFY(std::isnan(f16_to_f32(f32_to_f16(value))));
      else
        QCOMPARE(f32_to_f16(value), half);
    }
  }

  void every_bf16_comes_back() {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto stored = static_cast<uint16_t>(bits);
      const float value = bf16_to_f32(stored);
      if (std::isnan(value))
        QVERIFY(std::isnan(bf16_to_f32(f32_to_bf16(value))));
      else
        QCOMPARE(f32_to_bf16(value), stored);
    }
  }

  void ties_go_to_the_even_neighbour() {
    // bf16 holds 8 bits of a number, f16 11: one half unit of the last place above 1, and above the next.
    QCOMPARE(bf16_to_f32(f32_to_bf16(1 + 0x1p-8f)), 1.0f);
    QCOMPARE(bf16_to_f32(f32_to_bf16(1 + 3 * 0x1p-8f)), 1 + 0x1p-6f);
    QCOMPARE(bf16_to_f32(f32_to_bf16(std::nextafter(1 + 0x1p-8f, 2.0f))), 1 + 0x1p-7f);
    QCOMPARE(f16_to_f32(f32_to_f16(1 + 0x1p-11f)), 1.0f);
    QCOMPARE(f16_to_f32(f32_to_f16(1 + 3 * 0x1p-11f)), 1 + 0x1p-9f);
  }

  void what_is_too_large_is_infinite() {
    QCOMPARE(f16_to_f32(f32_to_f16(65504.0f)), 65504.0f);
    QVERIFY(std::isinf(f16_to_f32(f32_to_f16(65520.0f))));
    QVERIFY(std::isinf(bf16_to_f32(f32_to_bf16(std::numeric_limits<float>::max()))));
  }

  void names_are_read_as_they_are_written() {
    for (const DType t : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8, DType::u8, DType::i32, DType::i64,
                          DType::boolean}) {
      const std::optional<DType> again = parse_dtype(to_text(t));
      QVERIFY(again && *again == t);
    }
    QVERIFY(!parse_dtype("f7") && !parse_dtype(""));
  }
};

STORMCELL_TEST(DtypeTest)

#include "dtype_test.moc"
