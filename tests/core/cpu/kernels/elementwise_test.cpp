#include "core/cpu/kernels/elementwise.h"

#include <QTest>
#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/counts.h"
#include "tests/testing/non_temporal_results.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
namespace {
using stormcell::testing::NonTemporalResults;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

/// From -100 to 100, dense around 0, with the special values.
std::vector<float> numbers() {
  std::vector<float> all;
  for (int i = -20000; i <= 20000; ++i) {
    const float t = static_cast<float>(i) / 20000;
    all.push_back(100 * t * t * t);
  }
  return all;
}
}  // namespace

class ElementwiseTest : public QObject {
  Q_OBJECT
 private slots:
  void activations_equal_their_formulas() {
    const std::vector<float> x = numbers();
    std::vector<double> gelu, gelu_tanh, silu, relu, tanh, sigmoid, tolerance;
    for (const float f : x) {
      const double v = f;
      gelu.push_back(v / 2 * std::erfc(-v / std::sqrt(2.0)));
      gelu_tanh.push_back(v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))));
      silu.push_back(v / (1 + std::exp(-v)));
      relu.push_back(v < 0 ? 0 : v);
      tanh.push_back(std::tanh(v));
      sigmoid.push_back(1 / (1 + std::exp(-v)));
      tolerance.push_back(2.5e-7 * std::max(1.0, std::fabs(v)));
    }
    const std::pair<Activation, std::vector<double>*> cases[] = {
        {Activation::gelu_erf, &gelu}, {Activation::gelu_tanh, &gelu_tanh}, {Activation::silu, &silu},
        {Activation::relu, &relu},     {Activation::tanh, &tanh},           {Activation::sigmoid, &sigmoid}};
    for_each_isa([&](Isa isa) {
      for (const auto& [activation, expected] : cases) {
        ThreadTeam team(2);
        Floats y(x.size());
        activate(team, activation, x.data(), static_cast<int64_t>(x.size()), y.data());
        const QString error = worst(y.data(), *expected, tolerance,
                                    QString("%1 activation %2").arg(to_text(isa).data()).arg(int(activation)));
        QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
      }
    });
  }

  void activations_keep_nan_and_the_far_ends() {
    const float x[] = {kNan, -1e30f, 1e30f, 0.0f};
    for_each_isa([&](Isa) {
      for (const Activation a : {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
        ThreadTeam team(1);
        float y[4];
        activate(team, a, x, 4, y);
        QVERIFY(std::isnan(y[0]));
        QVERIFY(std::fabs(y[1]) < 1e-6f);
        QCOMPARE(y[2], 1e30f);
        QCOMPARE(y[3], 0.0f);
      }
    });
  }

  void what_saturates_stays_between_its_ends_and_small_numbers_keep_their_digits() {
    const float x[] = {kNan, -1e30f, 1e30f, 0.0f, 1e-20f, -3e-3f};
    for_each_isa([&](Isa) {
      ThreadTeam team(1);
      float tanh[6], sigmoid[6];
      activate(team, Activation::tanh, x, 6, tanh);
      activate(team, Activation::sigmoid, x, 6, sigmoid);
      QVERIFY(std::isnan(tanh[0]) && std::isnan(sigmoid[0]));
      QCOMPARE(tanh[1], -1.0f);
      QCOMPARE(tanh[2], 1.0f);
      QCOMPARE(tanh[3], 0.0f);
      QCOMPARE(tanh[4], 1e-20f);
      QVERIFY(std::fabs(tanh[5] / std::tanh(-3e-3) - 1) < 2e-7);
      QVERIFY(sigmoid[1] >= 0 && sigmoid[1] < 1e-30f);
      QCOMPARE(sigmoid[2], 1.0f);
      QCOMPARE(sigmoid[3], 0.5f);
    });
  }

  void sums_products_and_scales() {
    for_each_isa([](Isa) {
      for (const int64_t n : {0, 1, 3, 4, 7, 8, 15, 16, 17, 100, 40000}) {
        const Floats a = random_floats(static_cast<size_t>(n), 1), b = random_floats(static_cast<size_t>(n), 2);
        ThreadTeam team(3);
        Floats sum(a.size()), product(a.size()), scaled(a);
        add(team, a.data(), b.data(), n, sum.data());
        multiply(team, a.data(), b.data(), n, product.data());
        scale(team, scaled.data(), 3.0f, n, scaled.data());
        for (size_t i = 0; i < a.size(); ++i) {
          QCOMPARE(sum[i], a[i] + b[i]);
          QCOMPARE(product[i], a[i] * b[i]);
          QCOMPARE(scaled[i], a[i] * 3.0f);
        }
        QVERIFY(sum.intact() && product.intact() && scaled.intact());
        // Past the caches the same, wherever y begins.
        const NonTemporalResults past_the_caches;
        const int64_t offset = std::min<int64_t>(n, 5), rest = n - offset;
        Floats again(a.size()), ramp(a.size());
        add(team, a.data(), b.data(), n, again.data());
        QVERIFY(again.intact() && again == sum);
        multiply(team, a.data() + offset, b.data() + offset, rest, again.data() + offset);
        QVERIFY(again.intact() &&
                std::memcmp(again.data() + offset, product.data() + offset, static_cast<size_t>(rest) * 4) == 0);
        scale(team, a.data(), 3.0f, n, again.data());
        QVERIFY(again.intact() && again == scaled);
        activate(team, Activation::relu, a.data(), n, again.data());
        for (size_t i = 0; i < a.size(); ++i) QCOMPARE(again[i], std::max(a[i], 0.0f));
        const float factors[] = {2, -3};
        scale_rows(team, a.data(), factors, 2, n / 2, ramp.data());
        for (int64_t i = 0; i < n / 2 * 2; ++i)
          QCOMPARE(ramp[static_cast<size_t>(i)], a[static_cast<size_t>(i)] * factors[i / (n / 2)]);
        QVERIFY(again.intact() && ramp.intact());
      }
      const Floats x = random_floats(35, 3), row = random_floats(7, 4);
      ThreadTeam team(1);
      Floats sum(35), product(35);
      add_row(team, x.data(), row.data(), 5, 7, sum.data());
      multiply_row(team, x.data(), row.data(), 5, 7, product.data());
      for (size_t i = 0; i < 35; ++i) {
        QCOMPARE(sum[i], x[i] + row[i % 7]);
        QCOMPARE(product[i], x[i] * row[i % 7]);
      }
    });
  }

  void a_product_is_rounded_before_it_is_added() {
    for_each_isa([](Isa) {
      bool differs = false;  // from both at once
      for (const int64_t n : {0, 1, 7, 16, 17, 1024, 1025, 5000})
        for (const float factor : {0.3f, 1.0f}) {
          const Floats x = random_floats(static_cast<size_t>(n), 6), before = random_floats(static_cast<size_t>(n), 7);
          Floats y(before);
          add_scaled(x.data(), factor, n, y.data());
          for (size_t i = 0; i < x.size(); ++i) {
            const volatile float product = x[i] * factor;
            QVERIFY(y[i] == before[i] + product);
            differs = differs || std::fma(x[i], factor, before[i]) != y[i];
          }
          QVERIFY(y.intact());
        }
      QVERIFY(differs);
    });
  }

  void softmax_equals_double_loops() {
    for_each_isa([](Isa isa) {
      for (const int64_t d : {1, 2, 8, 15, 16, 17, 31, 33, 1000}) {
        Floats x = random_floats(static_cast<size_t>(9 * d), 5, 20);
        x[0] = -3.4e38f;  // a masked score
        std::vector<double> expected;
        for (size_t r = 0; r < 9; ++r) {
          const float* row = x.data() + r * static_cast<size_t>(d);
          const double most = *std::max_element(row, row + d);
          double total = 0;
          for (int64_t i = 0; i < d; ++i) total += std::exp(row[i] - most);
          for (int64_t i = 0; i < d; ++i) expected.push_back(std::exp(row[i] - most) / total);
        }
        ThreadTeam team(2);
        softmax_rows(team, x.data(), 9, d, x.data());
        const QString error =
            worst(x.data(), expected, 40 * kEpsilon, QString("%1 d %2").arg(to_text(isa).data()).arg(d));
        QVERIFY2(error.isEmpty() && x.intact(), qPrintable(error));
        if (d > 1) QCOMPARE(x[0], 0.0f);
      }
    });
  }

  void argmax_takes_the_lowest_of_equals_and_never_nan() {
    const std::pair<std::vector<float>, int> cases[] = {
        {{1, 3, 3, 2}, 1},
        {{kNan, 1, 2}, 2},
        {{kNan, kNan}, 0},
        {{kNan, -kInfinity}, 1},
        {{-kInfinity, -kInfinity}, 0},
        {{5, kNan, 5, 7, kNan}, 3},
        {{0.0f, -0.0f, 0.0f}, 0},
        {{-0.0f, 0.0f}, 0},
    };
    for_each_isa([&](Isa) {
      ThreadTeam team(2);
      for (const auto& [row, expected] : cases)
        for (const size_t lead : {0, 1, 5, 16, 40})  // moves the case across vectors
          for (const size_t tail : {0, 1, 30}) {
            std::vector<float> x(lead, kNan);
            x.insert(x.end(), row.begin(), row.end());
            x.insert(x.end(), tail, kNan);
            const bool all_nan = std::all_of(x.begin(), x.end(), [](float v) { return std::isnan(v); });
            int32_t index = -1;
            float value = 0;
            argmax_rows(team, x.data(), 1, static_cast<int64_t>(x.size()), &index, &value);
            QCOMPARE(index, all_nan ? 0 : static_cast<int32_t>(lead) + expected);
            QVERIFY(value == x[static_cast<size_t>(index)] || all_nan);
          }
      // Many rows of few distinct values against the plain search.
      stormcell::testing::Drawn<std::mt19937> engine(1);
      Floats x(200 * 70);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(engine() % 9);
      Guarded<int32_t> index(200);
      argmax_rows(team, x.data(), 200, 70, index.data(), nullptr);
      for (size_t r = 0; r < 200; ++r)
        QCOMPARE(index[r], static_cast<int32_t>(std::max_element(x.data() + r * 70, x.data() + r * 70 + 70) -
                                                (x.data() + r * 70)));
      QVERIFY(index.intact());
    });
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::ElementwiseTest;
STORMCELL_TEST(ElementwiseTest)
#include "elementwise_test.moc"
