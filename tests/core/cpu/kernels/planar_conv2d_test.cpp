// Convolutions in planes give the direct kernel's bits; a chain of residual blocks gives those of its convolutions one
// after the other.
#include "core/cpu/kernels/planar_conv2d.h"

#include <QTest>

#include "core/cpu/kernels/direct_conv2d.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing::planar_conv2d_test {
namespace {

struct Named {
  const char* name;
  Conv2dShape shape;
};
Conv2dShape shape(int64_t images, int64_t height, int64_t width, int64_t in, int64_t out, int64_t kernel, int64_t pad) {
  Conv2dShape s;
  s.images = images, s.height = height, s.width = width, s.in_channels = in, s.out_channels = out;
  s.kernel_height = s.kernel_width = kernel, s.pad_height = s.pad_width = pad;
  return s;
}
std::vector<Named> cases() {
  Conv2dShape oblong = shape(2, 9, 14, 5, 7, 3, 0);
  oblong.kernel_width = 5, oblong.pad_width = 3;
  return {{"8 channels of a patch", shape(3, 32, 32, 8, 8, 3, 1)},
          {"12 channels", shape(2, 10, 33, 12, 12, 3, 1)},
          {"16 channels", shape(1, 9, 16, 16, 16, 3, 1)},
          {"20 channels, two groups", shape(2, 7, 21, 20, 20, 3, 1)},
          {"80 channels, seven groups", shape(1, 5, 18, 20, 80, 3, 1)},
          {"first layer", shape(2, 13, 31, 3, 8, 3, 1)},
          {"last layer", shape(1, 40, 70, 8, 3, 3, 1)},
          {"one channel of many pixels", shape(1, 3, 200, 1, 1, 5, 2)},
          {"not padded", shape(1, 6, 20, 4, 6, 3, 0)},
          {"padded more than it takes", shape(1, 4, 5, 4, 6, 3, 2)},
          {"several bands", shape(1, 90, 120, 8, 8, 3, 1)},
          {"oblong", oblong},
          {"kernel as large as the image", shape(3, 4, 4, 10, 3, 4, 0)},
          {"1 x 1", shape(2, 5, 7, 6, 9, 1, 0)},
          {"one pixel", shape(1, 1, 1, 4, 8, 1, 0)}};
}

struct Weights {
  Floats stored, bias, planar, direct;
  explicit Weights(const Conv2dShape& s, int seed)
      : stored(random_floats(static_cast<size_t>(s.out_channels * s.group_k()), seed)),
        bias(random_floats(static_cast<size_t>(s.out_channels), seed + 1)),
        planar(planar_conv2d_bytes(s) / sizeof(float)),
        direct(direct_conv2d_bytes(s) / sizeof(float)) {
    pack_planar_conv2d(s, stored.data(), DType::f32, planar.data());
    pack_direct_conv2d(s, stored.data(), DType::f32, direct.data());
    if (!planar.intact()) qFatal("pack_planar_conv2d wrote outside its output");
  }
};

Floats map_of(const Conv2dShape& s, int seed) {
  return random_floats(static_cast<size_t>(s.images * s.height * s.width * s.in_channels), seed);
}
size_t results(const Conv2dShape& s) {
  return static_cast<size_t>(s.images * s.out_height() * s.out_width() * s.out_channels);
}

Floats planar(const Conv2dShape& s, const Floats& x, const Weights& w, bool relu, const Floats* residual, int threads,
              bool residual_first = false) {
  ThreadTeam team(threads);
  Floats y(results(s));
  Scratch scratch(planar_conv2d_scratch_bytes(s, threads));
  planar_conv2d(team, s, x.data(), w.planar.data(),
                {w.bias.data(), relu, residual ? residual->data() : nullptr, residual_first}, y.data(), scratch.data());
  if (!y.intact() || !scratch.intact()) qFatal("planar_conv2d wrote outside its output");
  return y;
}
Floats direct(const Conv2dShape& s, const Floats& x, const Weights& w, bool relu, const Floats* residual,
              bool residual_first = false) {
  ThreadTeam team(1);
  Floats y(results(s));
  Scratch scratch(direct_conv2d_scratch_bytes(s, 1));
  Epilogue e;
  e.bias = w.bias.data();
  if (relu) e.activation = Activation::relu;
  if (residual) e.residual = residual->data(), e.ld_extra = s.out_channels, e.residual_first = residual_first;
  direct_conv2d(team, s, x.data(), w.direct.data(), e, y.data(), scratch.data());
  return y;
}

}  // namespace

class PlanarConv2dTest : public QObject {
  Q_OBJECT
 private slots:
  void gives_the_direct_kernel_s_bits() {
    for (const auto& [name, s] : cases()) {
      QVERIFY2(is_planar(s), name);
      const Floats x = map_of(s, 1), residual = random_floats(results(s), 5);
      const Weights w(s, 2);
      for_each_isa([&, &name = name, &s = s](Isa isa) {
        const QString where = QString("%1 %2").arg(name, to_text(isa).data());
        for (const bool first : {false, true}) {
          const Floats expected = direct(s, x, w, true, &residual, first);
          for (const int threads : {1, 2, 3, 7})
            QVERIFY2(planar(s, x, w, true, &residual, threads, first) == expected, qPrintable(where));
        }
        QVERIFY2(planar(s, x, w, false, nullptr, 2) == direct(s, x, w, false, nullptr), qPrintable(where));
      });
    }
  }

  void a_chain_gives_its_convolutions_bits() {
    for (const auto& [name, s] : {Named{"8 channels of a patch", shape(5, 32, 32, 8, 8, 3, 1)},
                                  {"20 channels", shape(3, 9, 21, 20, 20, 3, 1)},
                                  {"one map of 1 row", shape(1, 1, 60, 20, 20, 3, 1)},
                                  {"one map of 2 rows", shape(1, 2, 21, 20, 20, 3, 1)},
                                  {"one map of 3 rows", shape(1, 3, 40, 12, 12, 5, 2)},
                                  {"one map of 17 rows", shape(1, 17, 33, 8, 8, 3, 1)},
                                  {"17 maps", shape(17, 7, 34, 11, 11, 3, 1)},
                                  {"odd channels, 5 x 5", shape(2, 7, 18, 3, 3, 5, 2)},
                                  {"one pixel", shape(1, 1, 1, 4, 4, 3, 1)}}) {
      std::vector<Weights> weights;
      std::vector<ResidualBlockWeights> blocks;
      weights.reserve(6);
      for (int i = 0; i < 6; ++i) weights.emplace_back(s, 10 * i);
      for (size_t i = 0; i < weights.size(); i += 2)
        blocks.push_back({weights[i].planar.data(), weights[i].bias.data(), weights[i + 1].planar.data(),
                          weights[i + 1].bias.data()});
      for_each_isa([&, &name = name, &s = s](Isa isa) {
        std::vector<Floats> maps{map_of(s, 1)};
        for (size_t i = 0; i < weights.size(); i += 2) {
          const Floats inner = direct(s, maps.back(), weights[i], true, nullptr);
          maps.push_back(direct(s, inner, weights[i + 1], false, &maps.back()));
        }
        for (const int threads : {1, 2, 3, 8}) {
          ThreadTeam team(threads);
          Floats y = map_of(s, 1);
          Scratch scratch(residual_blocks_scratch_bytes(s, threads));
          residual_blocks(team, s, y.data(), blocks, y.data(), scratch.data());
          QVERIFY(y.intact() && scratch.intact());
          QVERIFY2(y == maps.back(), qPrintable(QString("%1 %2").arg(name, to_text(isa).data())));
        }
      });
    }
  }

  void threads_share_the_maps_that_are_left() {
    const Conv2dShape patch = shape(1, 32, 32, 8, 8, 3, 1);
    QCOMPARE(maps_shared_by_threads(patch, 1, 1), int64_t{0});
    QCOMPARE(maps_shared_by_threads(patch, 1, 2), int64_t{1});
    QCOMPARE(maps_shared_by_threads(patch, 88, 2), int64_t{0});
    QCOMPARE(maps_shared_by_threads(patch, 89, 2), int64_t{1});
    QCOMPARE(maps_shared_by_threads(patch, 5, 8), int64_t{5});
    QCOMPARE(maps_shared_by_threads(patch, 13, 8), int64_t{5});
    // To meet costs more than is won: all threads but one have a map of their own, or there is little to do.
    QCOMPARE(maps_shared_by_threads(patch, 63, 64), int64_t{0});
    QCOMPARE(maps_shared_by_threads(shape(1, 4, 4, 8, 8, 3, 1), 1, 2), int64_t{0});
    QCOMPARE(maps_shared_by_threads(shape(1, 1, 60, 20, 20, 3, 1), 1, 2), int64_t{0});
    for (const int threads : {2, 3, 8})
      for (const Conv2dShape& s :
           {shape(1, 2, 21, 20, 20, 3, 1), shape(1, 3, 40, 12, 12, 5, 2), shape(1, 17, 33, 8, 8, 3, 1)})
        QCOMPARE(maps_shared_by_threads(s, 1, threads), int64_t{1});
  }

  void what_needs_strides_or_groups_is_left_to_others() {
    Conv2dShape s = shape(1, 8, 8, 8, 8, 3, 1);
    s.stride_height = 2;
    QVERIFY(!is_planar(s));
    s = shape(1, 8, 8, 8, 8, 3, 1), s.groups = 2;
    QVERIFY(!is_planar(s));
    QVERIFY(!is_planar(shape(1, 8, 8, 8, 8, 3, 3)));
  }
};

}  // namespace stormcell::cpu::testing::planar_conv2d_test

using stormcell::cpu::testing::planar_conv2d_test::PlanarConv2dTest;
STORMCELL_TEST(PlanarConv2dTest)
#include "planar_conv2d_test.moc"
