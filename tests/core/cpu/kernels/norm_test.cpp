#include "core/cpu/kernels/norm.h"

#include <QTest>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class NormTest : public QObject {
  Q_OBJECT
 private slots:
  void equal_double_loops() {
    for (const int64_t d : {1, 3, 15, 16, 17, 63, 64, 65, 100, 768})
      for (const int64_t rows : {0, 1, 5, 300}) {
        // Far from zero, so that a difference of squares would fail.
        Floats x = random_floats(static_cast<size_t>(rows * d), 1);
        for (size_t i = 0; i < x.size(); ++i) x[i] += 10;
        const Floats gain = random_floats(static_cast<size_t>(d), 2), bias = random_floats(static_cast<size_t>(d), 3);
        const float eps = 1e-5f;
        std::vector<double> rms, scale, layer;
        for (int64_t r = 0; r < rows; ++r) {
          const float* row = x.data() + r * d;
          double squares = 0, sum = 0, variance = 0;
          for (int64_t i = 0; i < d; ++i) squares += double{row[i]} * row[i], sum += row[i];
          for (int64_t i = 0; i < d; ++i) variance += std::pow(row[i] - sum / double(d), 2) / double(d);
          scale.push_back(1 / std::sqrt(squares / double(d) + eps));
          for (size_t i = 0; i < static_cast<size_t>(d); ++i) {
            rms.push_back(row[i] * scale.back() * gain[i]);
            layer.push_back((row[i] - sum / double(d)) / std::sqrt(variance + eps) * gain[i] + bias[i]);
          }
        }
        for_each_isa([&](Isa isa) {
          for (const int threads : {1, 3}) {
            const QString where = QString("%1 d %2 rows %3").arg(to_text(isa).data()).arg(d).arg(rows);
            ThreadTeam team(threads);
            Floats y(x.size()), scales(static_cast<size_t>(rows));
            rms_norm(team, x.data(), rows, d, gain.data(), eps, y.data());
            QString error = worst(y.data(), rms, 20 * kEpsilon, where + " rms_norm");
            QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
            rms_row_scale(team, x.data(), rows, d, eps, scales.data());
            error = worst(scales.data(), scale, 10 * kEpsilon, where + " rms_row_scale");
            QVERIFY2(error.isEmpty() && scales.intact(), qPrintable(error));
            Floats in_place(x);
            layer_norm(team, in_place.data(), rows, d, gain.data(), bias.data(), eps, in_place.data());
            // The mean is known to 10 epsilon; a row of one element divides that by sqrt(eps).
            error = worst(in_place.data(), layer, d == 1 ? 4000 * kEpsilon : 400 * kEpsilon, where + " layer_norm");
            QVERIFY2(error.isEmpty() && in_place.intact(), qPrintable(error));
          }
        });
      }
  }

  void gain_and_bias_may_be_absent() {
    const Floats x = random_floats(40, 4), ones(8, 1.0f), zeros(8, 0.0f);
    ThreadTeam team(1);
    Floats with(40), without(40);
    rms_norm(team, x.data(), 5, 8, ones.data(), 1e-6f, with.data());
    rms_norm(team, x.data(), 5, 8, nullptr, 1e-6f, without.data());
    QVERIFY(with == without);
    layer_norm(team, x.data(), 5, 8, ones.data(), zeros.data(), 1e-6f, with.data());
    layer_norm(team, x.data(), 5, 8, nullptr, nullptr, 1e-6f, without.data());
    QVERIFY(with == without);
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::NormTest;
STORMCELL_TEST(NormTest)
#include "norm_test.moc"
