#include "core/cpu/kernels/pool.h"

#include <QTest>
#include <algorithm>
#include <limits>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class PoolTest : public QObject {
  Q_OBJECT
 private slots:
  void windows_equal_double_loops() {
    for (const int64_t channels : {1, 7, 16, 70})
      for (const auto& [kernel, stride, pad] : {std::tuple<int64_t, int64_t, int64_t>{2, 2, 0}, {3, 2, 1}, {3, 1, 1}, {5, 3, 2}}) {
        Pool2dShape s;
        s.images = 2, s.height = 11, s.width = 13, s.channels = channels;
        s.kernel_height = s.kernel_width = kernel, s.stride_height = s.stride_width = stride, s.pad_height = s.pad_width = pad;
        const Floats x = random_floats(static_cast<size_t>(s.images * s.height * s.width * channels), 1);
        std::vector<double> largest, mean, mean_of_real;
        for (int64_t image = 0; image < s.images; ++image)
          for (int64_t oy = 0; oy < s.out_height(); ++oy)
            for (int64_t ox = 0; ox < s.out_width(); ++ox)
              for (int64_t c = 0; c < channels; ++c) {
                double sum = 0, most = -HUGE_VAL, count = 0;
                for (int64_t ky = 0; ky < kernel; ++ky)
                  for (int64_t kx = 0; kx < kernel; ++kx) {
                    const int64_t iy = oy * stride - pad + ky, ix = ox * stride - pad + kx;
                    if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
                    const double v = x[static_cast<size_t>(((image * s.height + iy) * s.width + ix) * channels + c)];
                    sum += v, most = std::max(most, v), ++count;
                  }
                largest.push_back(most), mean.push_back(sum / double(kernel * kernel)), mean_of_real.push_back(sum / count);
              }
        for_each_isa([&](Isa) {
          for (const int threads : {1, 3}) {
            ThreadTeam team(threads);
            Floats y(largest.size());
            max_pool2d(team, s, x.data(), y.data());
            QString error = worst(y.data(), largest, 1e-30, "max");
            QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
            average_pool2d(team, s, x.data(), true, y.data());
            error = worst(y.data(), mean, 30 * kEpsilon, "average");
            QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
            average_pool2d(team, s, x.data(), false, y.data());
            error = worst(y.data(), mean_of_real, 30 * kEpsilon, "average of real pixels");
            QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
          }
        });
      }
  }

  void global_average_is_the_mean_of_the_pixels() {
    const Floats x = random_floats(3 * 49 * 37, 2);
    std::vector<double> expected(3 * 37);
    for (size_t i = 0; i < x.size(); ++i) expected[i / (49 * 37) * 37 + i % 37] += double{x[i]} / 49;
    for_each_isa([&](Isa) {
      ThreadTeam team(2);
      Floats y(expected.size());
      global_average_pool(team, x.data(), 3, 49, 37, y.data());
      const QString error = worst(y.data(), expected, 60 * kEpsilon, "global average");
      QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
    });
  }

  void nan_wins_a_maximum() {
    Pool2dShape s;
    s.height = s.width = s.kernel_height = s.kernel_width = 2, s.channels = 1;
    for_each_isa([&](Isa) {
      for (size_t at = 0; at < 4; ++at) {
        float x[4] = {1, 2, 3, 4}, y = 0;
        x[at] = std::numeric_limits<float>::quiet_NaN();
        ThreadTeam team(1);
        max_pool2d(team, s, x, &y);
        QVERIFY(std::isnan(y));
      }
    });
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::PoolTest;
STORMCELL_TEST(PoolTest)
#include "pool_test.moc"
