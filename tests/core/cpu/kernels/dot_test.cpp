// The plain product of each number format: blocks decoded to what was computed by hand, sums as double loops have them.
#include "core/cpu/kernels/dot.h"

#include <QTest>
#include <bit>
#include <limits>

#include "core/base/number_format.h"
#include "core/cpu/kernels/format_kernels.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/complaint.h"
#include "tests/testing/q8_0.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
namespace {

using stormcell::testing::q8_0_block;

/// Elements -128, -127, -1, 0, 1, 127, and then 2, 3, ...
std::vector<int> some_elements() {
  std::vector<int> elements{-128, -127, -1, 0, 1, 127};
  while (elements.size() < 32) elements.push_back(static_cast<int>(elements.size()) - 4);
  return elements;
}

std::vector<float> decoded(uint16_t scale, const std::vector<int>& elements) {
  std::vector<float> values(32, -7.0f);
  decode_q8_0(q8_0_block(scale, elements).data(), values.data());
  return values;
}

}  // namespace

class DotTest : public QObject {
  Q_OBJECT
 private slots:
  void a_block_is_its_scale_times_its_bytes_data() {
    QTest::addColumn<int>("bits");
    QTest::addColumn<double>("scale");
    QTest::newRow("one") << 0x3c00 << 1.0;
    QTest::newRow("minus a half") << 0xb800 << -0.5;
    QTest::newRow("a third, rounded") << 0x3555 << 0.333251953125;
    QTest::newRow("the largest") << 0x7bff << 65504.0;
    QTest::newRow("the smallest normal") << 0x0400 << 0x1p-14;
    QTest::newRow("the smallest subnormal") << 0x0001 << 0x1p-24;
    QTest::newRow("the largest subnormal, negative") << 0x83ff << -1023 * 0x1p-24;
    QTest::newRow("zero") << 0x0000 << 0.0;
    QTest::newRow("minus zero") << 0x8000 << -0.0;
  }
  void a_block_is_its_scale_times_its_bytes() {
    QFETCH(const int, bits);
    QFETCH(const double, scale);
    const std::vector<int> elements = some_elements();
    const std::vector<float> values = decoded(static_cast<uint16_t>(bits), elements);
    for (size_t i = 0; i < 32; ++i) QCOMPARE(static_cast<double>(values[i]), scale * elements[i]);
  }

  void the_scale_comes_first_and_its_low_byte_before_the_high_one() {
    std::vector<std::byte> block(kQ8Bytes, std::byte{3});
    block[0] = std::byte{0x00}, block[1] = std::byte{0x40};  // 2.0
    std::vector<float> values(32);
    decode_q8_0(block.data(), values.data());
    QCOMPARE(values, std::vector<float>(32, 6.0f));
  }

  void a_scale_that_is_not_finite_is_not_hidden() {
    const std::vector<float> values = decoded(0x7c00, some_elements());
    QVERIFY(values[0] == -std::numeric_limits<float>::infinity() &&
            values[5] == std::numeric_limits<float>::infinity());
    QVERIFY(std::isnan(values[3]) && std::isnan(decoded(0x7e00, some_elements())[5]));
  }

  void the_table_of_facts_has_the_same_blocks() {
    QCOMPARE(int64_t{format_of(DType::q8_0).block_elements}, kQ8Elements);
    QCOMPARE(int64_t{format_of(DType::q8_0).block_bytes}, kQ8Bytes);
  }

  void sums_are_those_of_double_loops() {
    for (const int64_t blocks : {0, 1, 2, 5, 64}) {
      const int64_t n = blocks * kQ8Elements;
      const Floats x = random_floats(static_cast<size_t>(n), 5), w = random_floats(static_cast<size_t>(n), 6, 3);
      const std::vector<std::byte> row = stormcell::testing::q8_0_of({w.data(), w.data() + n});
      QCOMPARE(static_cast<int64_t>(row.size()), stormcell::row_bytes(DType::q8_0, n));
      double sum = 0, sizes = 0, plain = 0, plain_sizes = 0;
      for (int64_t i = 0; i < n; ++i) {
        const std::byte* block = row.data() + i / 32 * 34;
        const double scale =
            f16_to_f32(static_cast<uint16_t>(std::to_integer<int>(block[0]) | std::to_integer<int>(block[1]) << 8));
        const double element = scale * std::bit_cast<int8_t>(block[2 + i % 32]);
        const double at = x[static_cast<size_t>(i)], exact = w[static_cast<size_t>(i)];
        sum += at * element, sizes += std::fabs(at * element), plain += at * exact,
            plain_sizes += std::fabs(at * exact);
      }
      // Each of 16 lanes rounds a sum of n / 16 terms; the tolerance is a generous bound on all of them.
      const double unit = 0x1p-23 * (static_cast<double>(n) / 16 + 16);
      QVERIFY(std::fabs(dot_q8_0(x.data(), row.data(), n) - sum) <= unit * sizes);
      QVERIFY(std::fabs(dot_f32(x.data(), reinterpret_cast<const std::byte*>(w.data()), n) - plain) <=
              unit * plain_sizes);
    }
  }

  void a_length_that_is_no_multiple_of_the_lanes_is_summed_whole() {
    for (const int64_t n : {1, 15, 16, 17, 33}) {
      const Floats ones = random_floats(static_cast<size_t>(n), 8);
      double sum = 0, sizes = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double at = ones[static_cast<size_t>(i)];
        sum += at * at, sizes += at * at;
      }
      QVERIFY(std::fabs(dot_f32(ones.data(), reinterpret_cast<const std::byte*>(ones.data()), n) - sum) <=
              1e-5 * sizes);
    }
  }

  void each_format_says_which_kernels_read_it() {
    QCOMPARE(panel_formats(), (std::vector<DType>{DType::f32, DType::bf16}));
    for (const FormatKernels& row : format_kernels()) {
      QVERIFY(find_kernels(row.format) == &row);
      QCOMPARE(row.panel_step > 0, row.product != nullptr);
      QVERIFY(panel_format(row.format) == (row.panel_step > 0 ? row.format : DType::f32));
      QVERIFY(plain_format(row.format) == (row.dot ? row.format : DType::f32));
    }
    QVERIFY(panel_format(DType::f16) == DType::f32 && plain_format(DType::f16) == DType::f32 &&
            plain_format(DType::bf16) == DType::f32);
    QVERIFY(plain_format(DType::q8_0) == DType::q8_0 && !find_kernels(DType::i8));
    QVERIFY(!rounds_rows_of_x(DType::f32) && !rounds_rows_of_x(DType::q8_0) && !rounds_rows_of_x(DType::i8));
    QCOMPARE(rounds_rows_of_x(DType::bf16), kernels().product_bf16_rounds_x);
    QCOMPARE(stormcell::testing::complaint([] { panel_kernels(DType::q8_0); }),
             std::string("product: no panels in q8_0"));
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::DotTest;
STORMCELL_TEST(DotTest)
#include "dot_test.moc"
