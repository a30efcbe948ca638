// A separable convolution gives the bits of its two convolutions one after the other.
#include "core/cpu/kernels/separable_conv2d.h"

#include <QTest>

#include "core/cpu/kernels/direct_conv2d.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/non_temporal_results.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing::separable_conv2d_test {
namespace {

using stormcell::testing::NonTemporalResults;

struct Named {
  const char* name;
  Conv2dShape depthwise;
  int64_t outputs;
};
Conv2dShape shape(int64_t images, int64_t height, int64_t width, int64_t channels, int64_t kernel, int64_t stride,
                  int64_t pad) {
  Conv2dShape s;
  s.images = images, s.height = height, s.width = width, s.in_channels = s.out_channels = s.groups = channels;
  s.kernel_height = s.kernel_width = kernel, s.stride_height = s.stride_width = stride,
  s.pad_height = s.pad_width = pad;
  return s;
}
std::vector<Named> cases() {
  Conv2dShape oblong = shape(2, 9, 14, 5, 3, 1, 0);
  oblong.kernel_width = 5, oblong.pad_width = 3, oblong.stride_height = 2;
  return {{"64 to 64", shape(2, 12, 50, 64, 3, 1, 1), 64},
          {"blocks that end within a row", shape(1, 9, 97, 33, 3, 1, 1), 70},
          {"stride 2", shape(2, 13, 11, 21, 3, 2, 1), 16},
          {"stride 3, not padded", shape(1, 10, 17, 8, 3, 3, 0), 5},
          {"five taps of padding", shape(1, 6, 7, 16, 5, 1, 2), 130},
          {"padded more than it takes", shape(1, 4, 5, 4, 3, 1, 4), 6},
          {"oblong", oblong, 40},
          {"kernel wider than the map", shape(3, 3, 3, 6, 5, 1, 1), 3},
          {"many channels of few pixels", shape(1, 2, 3, 1200, 3, 1, 1), 100},
          {"one pixel", shape(1, 1, 1, 2, 3, 1, 1), 1}};
}

}  // namespace

class SeparableConv2dTest : public QObject {
  Q_OBJECT
 private slots:
  void gives_the_bits_of_its_two_convolutions() {
    for (const auto& [name, s, outputs] : cases()) {
      const int64_t pixels = s.images * s.out_height() * s.out_width();
      const Floats x = random_floats(static_cast<size_t>(s.images * s.height * s.width * s.in_channels), 1);
      const Floats first = random_floats(static_cast<size_t>(s.in_channels * s.group_k()), 2),
                   second = random_floats(static_cast<size_t>(outputs * s.in_channels), 3);
      const Floats bias = random_floats(static_cast<size_t>(outputs), 4),
                   residual = random_floats(static_cast<size_t>(pixels * outputs), 5);
      Conv2dShape pointwise;
      pointwise.images = s.images, pointwise.height = s.out_height(), pointwise.width = s.out_width();
      pointwise.in_channels = s.in_channels, pointwise.out_channels = outputs;
      Scratch depthwise_weights(packed_conv2d_bytes(s, DType::f32)), pointwise_weights(direct_conv2d_bytes(pointwise));
      pack_conv2d(s, first.data(), DType::f32, nullptr, DType::f32, depthwise_weights.data());
      pack_direct_conv2d(pointwise, second.data(), DType::f32, reinterpret_cast<float*>(pointwise_weights.data()));
      const auto* const w = reinterpret_cast<const float*>(depthwise_weights.data());
      const auto* const v = reinterpret_cast<const float*>(pointwise_weights.data());
      Epilogue full;
      full.bias = bias.data(), full.activation = Activation::relu, full.residual = residual.data(),
      full.ld_extra = outputs;
      Epilogue of_sum = full;
      of_sum.residual_first = true;
      for (const Epilogue& epilogue : {Epilogue{}, full, of_sum})
        for_each_isa([&, &name = name, &outputs = outputs, &s = s](Isa isa) {
          const QString where = QString("%1 %2").arg(name, to_text(isa).data());
          ThreadTeam alone(1);
          Floats between(static_cast<size_t>(pixels * s.in_channels)), expected(static_cast<size_t>(pixels * outputs));
          Scratch of_first(conv2d_scratch_bytes(s, DType::f32, 1)),
              of_second(direct_conv2d_scratch_bytes(pointwise, 1));
          conv2d(alone, s, x.data(), depthwise_weights.data(), DType::f32, {}, between.data(), of_first.data());
          direct_conv2d(alone, pointwise, between.data(), v, epilogue, expected.data(), of_second.data());
          for (const int threads : {1, 2, 3, 7}) {
            ThreadTeam team(threads);
            Floats y(static_cast<size_t>(pixels * outputs));
            Scratch scratch(separable_conv2d_scratch_bytes(s, threads));
            separable_conv2d(team, s, outputs, x.data(), w, v, epilogue, y.data(), scratch.data());
            QVERIFY2(y.intact() && scratch.intact(), qPrintable(where));
            QVERIFY2(y == expected, qPrintable(where));
            const NonTemporalResults past_the_caches;
            Floats again(y.size());
            separable_conv2d(team, s, outputs, x.data(), w, v, epilogue, again.data(), scratch.data());
            QVERIFY2(again.intact() && again == expected, qPrintable(where));
          }
        });
    }
  }
};

}  // namespace stormcell::cpu::testing::separable_conv2d_test

using stormcell::cpu::testing::separable_conv2d_test::SeparableConv2dTest;
STORMCELL_TEST(SeparableConv2dTest)
#include "separable_conv2d_test.moc"
