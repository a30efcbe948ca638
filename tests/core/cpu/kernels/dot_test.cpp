// The plain product of floats as double loops have it, and the table of kernels by number format.
#include "core/cpu/kernels/dot.h"

#include <QTest>

#include "core/cpu/kernels/format_kernels.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
class DotTest : public QObject {
  Q_OBJECT
 private slots:
  void sums_are_those_of_double_loops() {
    for (const int64_t n : {0, 32, 64, 160, 2048}) {
      const Floats x = random_floats(static_cast<size_t>(n), 5), w = random_floats(static_cast<size_t>(n), 6, 3);
      double sum = 0, sizes = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double term = double{x[static_cast<size_t>(i)]} * double{w[static_cast<size_t>(i)]};
        sum += term, sizes += std::fabs(term);
      }
      // Each of 16 lanes rounds a sum of n / 16 terms; the tolerance is a generous bound on all of them.
      const double unit = 0x1p-23 * (static_cast<double>(n) / 16 + 16);
      QVERIFY(std::fabs(dot_f32(x.data(), reinterpret_cast<const std::byte*>(w.data()), n) - sum) <= unit * sizes);
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
      QVERIFY(row.blocks == nullptr || (row.dot != nullptr && row.panel_step == 0));
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
