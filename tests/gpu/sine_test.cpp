// Sine and cosine of kernels beside those of the C library in double.
#include "gpu/base/sine.h"

#include <cmath>
#include <random>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class SineTest : public QObject {
  Q_OBJECT
 private slots:
  /// Angles of every size up to 2^33, of both signs: half a unit of the last place, and a hundredth.
  void sines_and_cosines_are_rounded_as_the_c_library_s_in_double() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 200'000; ++i) {
      const float size =
          std::ldexp(static_cast<float>(random() >> 40) / (1 << 24), static_cast<int>(random() % 50) - 17);
      const float angle = i % 2 == 0 ? size : -size;
      const gpu::SineAndCosine came = gpu::sine_and_cosine(angle);
      for (const auto& [got, right] : {std::pair{came.sine, std::sin(static_cast<double>(angle))},
                                       std::pair{came.cosine, std::cos(static_cast<double>(angle))}}) {
        const float near = std::fabs(static_cast<float>(right)), unit = std::nextafter(near, 2.0f) - near;
        QVERIFY2(std::fabs(static_cast<double>(got) - right) <= 0.51 * static_cast<double>(unit),
                 qPrintable(QString("angle %1: %2, expected %3").arg(angle).arg(got).arg(right)));
      }
    }
  }
};

STORMCELL_TEST(SineTest)

}  // namespace stormcell::testing
#include "sine_test.moc"
