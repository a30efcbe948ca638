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
      for (const auto& [kernel, stride, pad] :
           {std::tuple<int64_t, int64_t, int64_t>{2, 2, 0}, {3, 2, 1}, {3, 1, 1}, {5, 3, 2}}) {
        Pool2dShape s;
        s.images = 2, s.height = 11, s.width = 13, s.channels = channels;
        s.kernel_height = s.kernel_width = kernel, s.stride_height = s.stride_width = stride,
        s.pad_height = s.pad_width = pad;
        const Floats x = random_floats(static_cast<size_t>(s.images * s.height * s.width * channels), 1);
        std::vector<double> largest, mean;
        for (int64_t image = 0; image < s.images; ++image)
          for (int64_t oy = 0; oy < s.out_height(); ++oy)
            for (int64_t ox = 0; ox < s.out_width(); ++ox)
              for (int64_t c = 0; c < channels; ++c) {
                double sum = 0, most = -HUGE_VAL;
                for (int64_t ky = 0; ky < kernel; ++ky)
                  for (int64_t kx = 0; kx < kernel; ++kx) {
                    const int64_t iy = oy * stride - pad + ky, ix = ox * stride - pad + kx;
                    if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
                    const double v = x[static_cast<size_t>(((image * s.height + iy) * s.width + ix) * channels + c)];
                    sum += v, most = std::max(most, v);
                  }
                largest.push_back(most), mean.push_back(sum / double(kernel * kernel));
              }
        for_each_isa([&](Isa) {
          for (const int threads : {1, 3}) {
            ThreadTeam team(threads);
            Floats y(largest.size());
            max_pool2d(team, s, x.data(), y.data());
            QString error = worst(y.data(), largest, 1e-30, "max");
            QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
            average_pool2d(team, s, x.data(), y.data());
            error = worst(y.data(), mean, 30 * kEpsilon, "average");
            QVERIFY2(error.isEmpty() && y.intact(), qPrintable(error));
          }
        });
      }
  }

  void global_average_is_the_mean_of_the_pixels() {
    // One pixel, a part of a map that threads share, several and a rest, several channels of 64.
    for (const auto& [images, pixels, channels] : {std::tuple<int64_t, int64_t, int64_t>{3, 49, 37},
                                                   {2, 1, 5},
                                                   {1, 1024, 8},
                                                   {1, 2048, 70},
                                                   {2, 5000, 3},
                                                   {1, 3077, 130}}) {
      const auto map = static_cast<size_t>(pixels * channels), wide = static_cast<size_t>(channels);
      const Floats x = random_floats(static_cast<size_t>(images) * map, 2);
      std::vector<double> expected(static_cast<size_t>(images) * wide);
      for (size_t i = 0; i < x.size(); ++i)
        expected[i / map * wide + i % wide] += double{x[i]} / static_cast<double>(pixels);
      for_each_isa([&, &channels = channels, &images = images, &pixels = pixels](Isa) {
        Floats alone(expected.size());
        for (const int threads : {1, 2, 3, 8}) {
          ThreadTeam team(threads);
          Floats y(expected.size());
          Scratch scratch(global_average_pool_scratch_bytes(images, pixels, channels));
          global_average_pool(team, x.data(), images, pixels, channels, y.data(), scratch.data());
          const QString error = worst(y.data(), expected, 60 * kEpsilon, "global average");
          QVERIFY2(error.isEmpty() && y.intact() && scratch.intact(), qPrintable(error));
          if (threads == 1) std::copy_n(y.data(), y.size(), alone.data());
          QVERIFY(y == alone);
        }
      });
    }
  }

  void a_map_is_summed_in_pairs_whoever_sums_its_parts() {
    // Runs of 32 pixels, from the front on powers of two of them, each halved again and again; the smallest is added
    // first.
    for (const int64_t pixels : {int64_t{31}, int64_t{1023}, int64_t{2040}, int64_t{5000}}) {
      const Floats x = random_floats(static_cast<size_t>(pixels), 3);
      const auto whole = [&](const auto& self, int64_t run, int64_t runs) -> float {
        if (runs > 1) return self(self, run, runs / 2) + self(self, run + runs / 2, runs / 2);
        float sum = x[static_cast<size_t>(run * 32)];
        for (int64_t p = run * 32 + 1; p < std::min(pixels, (run + 1) * 32); ++p) sum += x[static_cast<size_t>(p)];
        return sum;
      };
      float expected = 0;
      const int64_t runs = (pixels + 31) / 32;
      int64_t end = runs;
      for (int64_t size = 1; size <= runs; size *= 2)
        if (runs & size) end -= size, expected = whole(whole, end, size) + expected;
      expected *= 1.0f / static_cast<float>(pixels);
      for_each_isa([&](Isa) {
        ThreadTeam team(2);
        Floats y(1);
        Scratch scratch(global_average_pool_scratch_bytes(1, pixels, 1));
        global_average_pool(team, x.data(), 1, pixels, 1, y.data(), scratch.data());
        QVERIFY(y.intact() && scratch.intact() && y[0] == expected);
      });
    }
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
