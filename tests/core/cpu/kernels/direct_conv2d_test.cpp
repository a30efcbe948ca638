#include "core/cpu/kernels/direct_conv2d.h"

#include <QTest>

#include "core/cpu/kernels/elementwise.h"
#include "core/cpu/kernels/kernel_table.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/non_temporal_results.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing::direct_conv2d_test {
namespace {

using stormcell::testing::NonTemporalResults;

struct Named {
  const char* name;
  Conv2dShape shape;
};
Conv2dShape shape(int64_t images, int64_t height, int64_t width, int64_t in, int64_t out, int64_t kernel,
                  int64_t stride, int64_t pad) {
  Conv2dShape s;
  s.images = images, s.height = height, s.width = width, s.in_channels = in, s.out_channels = out;
  s.kernel_height = s.kernel_width = kernel, s.stride_height = s.stride_width = stride,
  s.pad_height = s.pad_width = pad;
  return s;
}
std::vector<Named> cases() {
  Conv2dShape oblong = shape(2, 9, 14, 5, 7, 3, 1, 0);
  oblong.kernel_width = 5, oblong.stride_height = 2, oblong.pad_width = 3;
  return {{"one panel of 16", shape(2, 8, 9, 6, 10, 3, 1, 1)},
          {"one panel of 32", shape(1, 11, 27, 7, 32, 3, 1, 1)},
          {"panels of 64, 32 and 16", shape(1, 6, 7, 5, 112, 3, 1, 1)},
          {"two of 64, the last not full", shape(1, 5, 5, 3, 120, 3, 1, 1)},
          {"first layer", shape(1, 33, 31, 3, 70, 7, 2, 3)},
          {"patches", shape(2, 16, 12, 3, 40, 4, 4, 0)},
          {"1x1", shape(3, 5, 7, 11, 66, 1, 1, 0)},
          {"1x1 of many pixels", shape(1, 50, 41, 8, 16, 1, 1, 0)},
          {"1x1 stride 2", shape(2, 6, 7, 9, 5, 1, 2, 0)},
          {"1x1 padded", shape(1, 3, 4, 9, 5, 1, 2, 2)},
          {"several bands", shape(1, 70, 70, 8, 16, 3, 1, 1)},
          {"several chunks of one kernel row", shape(1, 3, 4, 150, 64, 3, 1, 1)},
          {"halves, odd sides", shape(2, 15, 13, 10, 24, 3, 2, 1)},
          {"oblong", oblong},
          {"kernel as large as the image", shape(3, 4, 4, 10, 3, 4, 1, 0)},
          {"more padding than image", shape(1, 1, 2, 4, 8, 5, 1, 4)},
          {"one pixel", shape(1, 1, 1, 4, 8, 1, 1, 0)}};
}

/// relu(x * w + bias) + residual by loops in double; weights are [out, kh, kw, in].
std::vector<double> by_loops(const Conv2dShape& s, const Floats& x, const Floats& w, const Floats& bias,
                             const Floats& residual) {
  std::vector<double> y;
  for (int64_t image = 0; image < s.images; ++image)
    for (int64_t oy = 0; oy < s.out_height(); ++oy)
      for (int64_t ox = 0; ox < s.out_width(); ++ox)
        for (int64_t c = 0; c < s.out_channels; ++c) {
          double sum = bias[static_cast<size_t>(c)];
          for (int64_t ky = 0; ky < s.kernel_height; ++ky)
            for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
              const int64_t iy = oy * s.stride_height - s.pad_height + ky, ix = ox * s.stride_width - s.pad_width + kx;
              if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
              for (int64_t i = 0; i < s.in_channels; ++i)
                sum += double{x[static_cast<size_t>(((image * s.height + iy) * s.width + ix) * s.in_channels + i)]} *
                       w[static_cast<size_t>(((c * s.kernel_height + ky) * s.kernel_width + kx) * s.in_channels + i)];
            }
          y.push_back((sum < 0 ? 0 : sum) + residual[y.size()]);
        }
  return y;
}

}  // namespace

class DirectConv2dTest : public QObject {
  Q_OBJECT
 private slots:
  void panels_cover_the_channels_once() {
    for (int64_t channels = 1; channels <= 200; ++channels) {
      int64_t next = 0;
      for (int64_t p = 0; p < conv_panel_count(channels); ++p) {
        const ConvPanel panel = conv_panel(channels, p);
        QCOMPARE(panel.first, next);
        QVERIFY(panel.width == 16 || panel.width == 32 || panel.width == 64);
        next += panel.width;
      }
      QVERIFY(next >= channels && next < channels + 16);
    }
  }

  void equals_double_loops() {
    for (const auto& [name, s] : cases())
      for (const DType stored : {DType::f32, DType::bf16}) {
        const int64_t rows = s.images * s.out_height() * s.out_width();
        const Floats x = random_floats(static_cast<size_t>(s.images * s.height * s.width * s.in_channels), 1);
        Floats w = random_floats(static_cast<size_t>(s.out_channels * s.group_k()), 2);
        std::vector<uint16_t> halves(w.size());
        if (stored == DType::bf16)
          for (size_t i = 0; i < w.size(); ++i) halves[i] = f32_to_bf16(w[i]), w[i] = bf16_to_f32(halves[i]);
        const Floats bias = random_floats(static_cast<size_t>(s.out_channels), 4),
                     residual = random_floats(static_cast<size_t>(rows * s.out_channels), 5);
        Floats packed(direct_conv2d_bytes(s) / sizeof(float));
        pack_direct_conv2d(s, stored == DType::bf16 ? static_cast<const void*>(halves.data()) : w.data(), stored,
                           packed.data());
        QVERIFY2(packed.intact(), name);
        const std::vector<double> expected = by_loops(s, x, w, bias, residual);
        Epilogue e;
        e.bias = bias.data(), e.activation = Activation::relu, e.residual = residual.data(),
        e.ld_extra = s.out_channels;
        for_each_isa([&, &name = name, &s = s](Isa isa) {
          const auto run = [&](int threads) {
            ThreadTeam team(threads);
            Floats y(static_cast<size_t>(rows * s.out_channels));
            Scratch scratch(direct_conv2d_scratch_bytes(s, threads));
            direct_conv2d(team, s, x.data(), packed.data(), e, y.data(), scratch.data());
            if (!y.intact() || !scratch.intact()) qFatal("direct_conv2d wrote outside its output");
            return y;
          };
          const Floats y = run(1);
          const double k = static_cast<double>(s.group_k());
          const QString error = worst(y.data(), expected, kEpsilon * (k * std::sqrt(k) + 8),
                                      QString("%1 %2").arg(name, to_text(isa).data()));
          QVERIFY2(error.isEmpty(), qPrintable(error));
          QVERIFY2(run(2) == y && run(3) == y && run(7) == y, name);
          const NonTemporalResults past_the_caches;
          QVERIFY2(run(1) == y && run(3) == y, name);
        });
      }
  }

  void an_activation_of_the_sum_gives_the_bits_of_a_step_of_its_own() {
    for (const auto& [name, s] : cases()) {
      const Floats x = random_floats(static_cast<size_t>(s.images * s.height * s.width * s.in_channels), 1),
                   w = random_floats(static_cast<size_t>(s.out_channels * s.group_k()), 2),
                   bias = random_floats(static_cast<size_t>(s.out_channels), 4),
                   residual = random_floats(
                       static_cast<size_t>(s.images * s.out_height() * s.out_width() * s.out_channels), 5);
      Floats packed(direct_conv2d_bytes(s) / sizeof(float));
      pack_direct_conv2d(s, w.data(), DType::f32, packed.data());
      for_each_isa([&, &name = name, &s = s](Isa isa) {
        ThreadTeam team(2);
        Scratch scratch(direct_conv2d_scratch_bytes(s, 2));
        Floats sums(residual.size()), expected(residual.size()), came(residual.size());
        Epilogue e;
        e.bias = bias.data(), e.residual = residual.data(), e.ld_extra = s.out_channels;
        direct_conv2d(team, s, x.data(), packed.data(), e, sums.data(), scratch.data());
        e.residual_first = true;
        for (const Activation a : kActivations) {
          activate(team, a, sums.data(), static_cast<int64_t>(sums.size()), expected.data());
          e.activation = a;
          direct_conv2d(team, s, x.data(), packed.data(), e, came.data(), scratch.data());
          QVERIFY2(came == expected && came.intact(), qPrintable(QString("%1 %2").arg(name, to_text(isa).data())));
        }
      });
    }
  }

  void an_image_is_the_same_in_any_batch() {
    const Conv2dShape many = shape(5, 14, 14, 12, 48, 3, 1, 1);
    const Floats x = random_floats(static_cast<size_t>(many.images * 14 * 14 * 12), 1);
    const Floats w = random_floats(static_cast<size_t>(48 * many.group_k()), 2);
    Floats packed(direct_conv2d_bytes(many) / sizeof(float));
    pack_direct_conv2d(many, w.data(), DType::f32, packed.data());
    ThreadTeam team(2);
    const size_t image = 14 * 14 * 48;
    Floats all(5 * image), one(image);
    Scratch scratch(direct_conv2d_scratch_bytes(many, 2));
    direct_conv2d(team, many, x.data(), packed.data(), {}, all.data(), scratch.data());
    Conv2dShape single = many;
    single.images = 1;
    direct_conv2d(team, single, x.data() + 3 * 14 * 14 * 12, packed.data(), {}, one.data(), scratch.data());
    QVERIFY(std::memcmp(one.data(), all.data() + 3 * image, image * sizeof(float)) == 0);
  }
};

}  // namespace stormcell::cpu::testing::direct_conv2d_test

using stormcell::cpu::testing::direct_conv2d_test::DirectConv2dTest;
STORMCELL_TEST(DirectConv2dTest)
#include "direct_conv2d_test.moc"
