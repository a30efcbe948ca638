#include "core/cpu/kernels/conv2d.h"

#include <QTest>

#include "core/cpu/kernels/elementwise.h"
#include "core/cpu/kernels/kernel_table.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing::conv2d_test {
namespace {

struct Named {
  const char* name;
  Conv2dShape shape;
};
Conv2dShape shape(int64_t images, int64_t height, int64_t width, int64_t in, int64_t out, int64_t kernel,
                  int64_t stride, int64_t pad, int64_t groups = 1) {
  Conv2dShape s;
  s.images = images, s.height = height, s.width = width, s.in_channels = in, s.out_channels = out, s.groups = groups;
  s.kernel_height = s.kernel_width = kernel, s.stride_height = s.stride_width = stride,
  s.pad_height = s.pad_width = pad;
  return s;
}
std::vector<Named> cases() {
  Conv2dShape oblong = shape(2, 9, 14, 5, 7, 3, 1, 0);
  oblong.kernel_width = 5, oblong.stride_height = 2, oblong.pad_width = 3, oblong.dilation_height = 2;
  Conv2dShape dilated = shape(1, 12, 11, 3, 4, 3, 2, 2);
  dilated.dilation_height = dilated.dilation_width = 2;
  return {{"3x3", shape(2, 8, 9, 6, 10, 3, 1, 1)},
          {"first layer", shape(1, 33, 31, 3, 70, 7, 2, 3)},
          {"1x1", shape(3, 5, 7, 11, 66, 1, 1, 0)},
          {"1x1 stride 2", shape(2, 6, 7, 9, 5, 1, 2, 0)},
          {"many pixels", shape(1, 70, 70, 8, 16, 3, 1, 1)},
          {"oblong", oblong},
          {"dilated", dilated},
          {"groups", shape(2, 7, 7, 12, 18, 3, 1, 1, 3)},
          {"depthwise", shape(2, 9, 8, 21, 21, 3, 2, 1, 21)},
          {"kernel as large as the image", shape(3, 4, 4, 10, 3, 4, 1, 0)}};
}

}  // namespace

class Conv2dTest : public QObject {
  Q_OBJECT
 private slots:
  void equals_double_loops() {
    for (const auto& [name, s] : cases())
      for (const DType dtype : {DType::f32, DType::bf16}) {
        const int64_t in = s.in_channels / s.groups, out = s.out_channels / s.groups,
                      rows = s.images * s.out_height() * s.out_width();
        const Floats x = random_floats(static_cast<size_t>(s.images * s.height * s.width * s.in_channels), 1);
        const Floats w = random_floats(static_cast<size_t>(s.out_channels * s.group_k()), 2),
                     scale = random_floats(static_cast<size_t>(s.out_channels), 3);
        const Floats bias = random_floats(static_cast<size_t>(s.out_channels), 4),
                     residual = random_floats(static_cast<size_t>(rows * s.out_channels), 5);
        Scratch packed(packed_conv2d_bytes(s, dtype));
        pack_conv2d(s, w.data(), DType::f32, scale.data(), dtype, packed.data());
        QVERIFY2(packed.intact(), name);
        const bool narrow = dtype == DType::bf16 && !s.depthwise();

        const auto reference = [&, &s = s](bool rounds) {
          std::vector<double> y;
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < s.out_channels; ++c) {
              const int64_t ox = r % s.out_width(), oy = r / s.out_width() % s.out_height(),
                            image = r / (s.out_width() * s.out_height());
              double sum = bias[static_cast<size_t>(c)];
              for (int64_t ky = 0; ky < s.kernel_height; ++ky)
                for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
                  const int64_t iy = oy * s.stride_height - s.pad_height + ky * s.dilation_height;
                  const int64_t ix = ox * s.stride_width - s.pad_width + kx * s.dilation_width;
                  if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
                  for (int64_t i = 0; i < in; ++i) {
                    const float a = x[static_cast<size_t>(((image * s.height + iy) * s.width + ix) * s.in_channels +
                                                          c / out * in + i)];
                    const float b =
                        w[static_cast<size_t>(((c * in + i) * s.kernel_height + ky) * s.kernel_width + kx)] *
                        scale[static_cast<size_t>(c)];
                    sum +=
                        double{rounds ? bf16_to_f32(f32_to_bf16(a)) : a} * (narrow ? bf16_to_f32(f32_to_bf16(b)) : b);
                  }
                }
              y.push_back((sum < 0 ? 0 : sum) + residual[static_cast<size_t>(r * s.out_channels + c)]);
            }
          return y;
        };
        const std::vector<double> exact = reference(false), rounded = narrow ? reference(true) : exact;
        Epilogue e;
        e.bias = bias.data(), e.activation = Activation::relu, e.residual = residual.data(),
        e.ld_extra = s.out_channels;
        for_each_isa([&, &name = name, &s = s](Isa isa) {
          const auto run = [&](int threads) {
            ThreadTeam team(threads);
            Floats y(static_cast<size_t>(rows * s.out_channels));
            Scratch scratch(conv2d_scratch_bytes(s, dtype, threads));
            conv2d(team, s, x.data(), packed.data(), dtype, e, y.data(), scratch.data());
            if (!y.intact() || !scratch.intact()) qFatal("conv2d wrote outside its output");
            return y;
          };
          const Floats y = run(1);
          const double k = static_cast<double>(s.group_k());
          const QString error =
              worst(y.data(), kernels().product_bf16_rounds_x ? rounded : exact, kEpsilon * (k * std::sqrt(k) + 8),
                    QString("%1 %2 %3").arg(name, to_text(isa).data(), to_text(dtype).data()));
          QVERIFY2(error.isEmpty(), qPrintable(error));
          QVERIFY2(run(2) == y && run(3) == y, name);
        });
      }
  }

  void an_activation_of_the_sum_gives_the_bits_of_a_step_of_its_own() {
    for (const auto& [name, s] : cases())
      for (const DType dtype : {DType::f32, DType::bf16}) {
        const Floats x = random_floats(static_cast<size_t>(s.images * s.height * s.width * s.in_channels), 1),
                     w = random_floats(static_cast<size_t>(s.out_channels * s.group_k()), 2),
                     bias = random_floats(static_cast<size_t>(s.out_channels), 4),
                     residual = random_floats(
                         static_cast<size_t>(s.images * s.out_height() * s.out_width() * s.out_channels), 5);
        Scratch packed(packed_conv2d_bytes(s, dtype));
        pack_conv2d(s, w.data(), DType::f32, nullptr, dtype, packed.data());
        for_each_isa([&, &name = name, &s = s](Isa isa) {
          ThreadTeam team(2);
          Scratch scratch(conv2d_scratch_bytes(s, dtype, 2));
          Floats sums(residual.size()), expected(residual.size()), came(residual.size());
          Epilogue e;
          e.bias = bias.data(), e.residual = residual.data(), e.ld_extra = s.out_channels;
          conv2d(team, s, x.data(), packed.data(), dtype, e, sums.data(), scratch.data());
          e.residual_first = true;
          for (const Activation a : kActivations) {
            activate(team, a, sums.data(), static_cast<int64_t>(sums.size()), expected.data());
            e.activation = a;
            conv2d(team, s, x.data(), packed.data(), dtype, e, came.data(), scratch.data());
            QVERIFY2(came == expected && came.intact(), qPrintable(QString("%1 %2").arg(name, to_text(isa).data())));
          }
        });
      }
  }
};

}  // namespace stormcell::cpu::testing::conv2d_test

using stormcell::cpu::testing::conv2d_test::Conv2dTest;
STORMCELL_TEST(Conv2dTest)
#include "conv2d_test.moc"
