// Maps of all branches on one line: the bits of the same kernel branch by branch, whatever threads there are; absent
// branches are left untouched.
#include "core/cpu/kernels/grouped_maps.h"

#include <QTest>

#include "core/cpu/kernels/direct_conv2d.h"
#include "core/cpu/kernels/norm.h"
#include "core/cpu/kernels/planar_conv2d.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing::grouped_maps_test {
namespace {

// Branches with 0, 1, 3, 2, 0 and 5 maps; the fourth is absent, and so is the fifth.
constexpr int32_t kOffsets[] = {0, 0, 1, 4, 6, 6, 11}, kBranches = 6, kSlots = 11, kCells = 7;
constexpr bool absent(int32_t branch) { return branch == 3 || branch == 4; }

Conv2dShape shape(int64_t height, int64_t width, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad) {
  Conv2dShape s;
  s.height = height, s.width = width, s.in_channels = in, s.out_channels = out;
  s.kernel_height = s.kernel_width = kernel, s.stride_height = s.stride_width = stride,
  s.pad_height = s.pad_width = pad;
  return s;
}
size_t floats_in(const Conv2dShape& s) { return static_cast<size_t>(s.height * s.width * s.in_channels); }
size_t floats_out(const Conv2dShape& s) { return static_cast<size_t>(s.out_height() * s.out_width() * s.out_channels); }

/// A weight and a bias of each branch, packed by `pack` into `bytes`.
struct Weights {
  std::vector<Floats> packed, biases;
  const float* of[kBranches];
  const float* bias_of[kBranches];
  template <class Pack>
  Weights(const Conv2dShape& s, size_t bytes, Pack pack, unsigned seed) {
    packed.reserve(kBranches), biases.reserve(kBranches);
    for (int32_t b = 0; b < kBranches; ++b) {
      const Floats stored =
          random_floats(static_cast<size_t>(s.out_channels * s.group_k()), seed + static_cast<unsigned>(b));
      packed.emplace_back(bytes / sizeof(float));
      pack(s, stored.data(), DType::f32, packed.back().data());
      biases.push_back(random_floats(static_cast<size_t>(s.out_channels), seed + 100 + static_cast<unsigned>(b)));
      of[b] = absent(b) ? nullptr : packed.back().data();
      bias_of[b] = b == 1 ? nullptr : biases.back().data();
    }
  }
};

std::vector<int32_t> cells_of_slots() {
  std::vector<int32_t> cell(kSlots);
  for (int32_t s = 0; s < kSlots; ++s) cell[static_cast<size_t>(s)] = s * 5 % kCells;
  return cell;
}

/// Rows or maps of branch b, one after the other.
Floats of_branch(const Floats& x, const std::vector<int32_t>* cells, int32_t b, size_t floats) {
  const auto first = static_cast<size_t>(kOffsets[b]), count = static_cast<size_t>(kOffsets[b + 1]) - first;
  Floats rows(count * floats);
  for (size_t i = 0; i < count; ++i)
    std::copy_n(x.data() + (cells ? static_cast<size_t>((*cells)[first + i]) : first + i) * floats, floats,
                rows.data() + i * floats);
  return rows;
}

template <class W>
GroupedMaps<W> grouped(const float* x, const std::vector<int32_t>* cells, const W* const* weights,
                       const float* const* biases) {
  return {x, cells ? cells->data() : nullptr, kOffsets, kBranches, weights, biases};
}

}  // namespace

class GroupedMapsTest : public QObject {
  Q_OBJECT
 private slots:
  void units_of_all_branches_come_once_and_in_order() {
    const float none = 0;
    const float* weights[kBranches];
    for (int32_t b = 0; b < kBranches; ++b) weights[b] = absent(b) ? nullptr : &none;
    const GroupedMaps<float> maps = grouped<float>(&none, nullptr, weights, nullptr);
    QCOMPARE(maps.maps(), int64_t{9});
    for (const int64_t parts : {1, 4})
      for (int64_t cut = 0; cut <= 9 * parts; ++cut) {
        std::vector<int64_t> seen;
        const auto visit = [&](int32_t branch, int64_t slot, int64_t part) {
          QVERIFY(!absent(branch) && slot >= kOffsets[branch] && slot < kOffsets[branch + 1]);
          seen.push_back(slot * parts + part);
        };
        for_each_unit(maps, parts, 0, cut, visit);
        QCOMPARE(static_cast<int64_t>(seen.size()), cut);
        for_each_unit(maps, parts, cut, 9 * parts, visit);
        QCOMPARE(static_cast<int64_t>(seen.size()), 9 * parts);
        QVERIFY(std::is_sorted(seen.begin(), seen.end()) && std::adjacent_find(seen.begin(), seen.end()) == seen.end());
      }
  }

  void convolutions_give_the_bits_of_one_branch_after_the_other_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < 7; ++i) QTest::addRow("%d", i) << i;
  }
  void convolutions_give_the_bits_of_one_branch_after_the_other() {
    QFETCH(int, index);
    const Conv2dShape shapes[] = {shape(8, 18, 8, 8, 3, 1, 1),  shape(40, 33, 3, 12, 3, 1, 1),
                                  shape(6, 7, 5, 112, 3, 1, 1), shape(9, 8, 6, 20, 3, 2, 1),
                                  shape(5, 7, 11, 66, 1, 1, 0), shape(50, 41, 8, 16, 1, 1, 0),
                                  shape(1, 1, 4, 8, 1, 1, 0)};
    const Conv2dShape s = shapes[index];
    const std::vector<int32_t> cells = cells_of_slots();
    const size_t in = floats_in(s), out = floats_out(s);
    const Floats x = random_floats(kSlots * in, 1), residual = random_floats(kSlots * out, 2);
    const Weights direct(s, direct_conv2d_bytes(s), pack_direct_conv2d, 10),
        planar(s, planar_conv2d_bytes(s), pack_planar_conv2d, 10);
    for_each_isa([&](Isa) {
      for (const std::vector<int32_t>* from : {static_cast<const std::vector<int32_t>*>(nullptr), &cells}) {
        const bool residual_first = from == &cells;
        Floats expected(kSlots * out, -7.0f);
        ThreadTeam alone(1);
        for (int32_t b = 0; b < kBranches; ++b) {
          Conv2dShape one = s;
          one.images = kOffsets[b + 1] - kOffsets[b];
          if (absent(b) || one.images == 0) continue;
          Epilogue e;
          e.activation = Activation::relu, e.bias = direct.bias_of[b];
          const size_t first = static_cast<size_t>(kOffsets[b]) * out;
          e.residual = residual.data() + first, e.ld_extra = s.out_channels, e.residual_first = residual_first;
          Scratch scratch(direct_conv2d_scratch_bytes(one, 1));
          direct_conv2d(alone, one, of_branch(x, from, b, in).data(), direct.of[b], e, expected.data() + first,
                        scratch.data());
        }
        for (const int threads : {1, 2, 3, 7}) {
          ThreadTeam team(threads);
          Epilogue e;
          e.activation = Activation::relu, e.residual = residual.data(), e.ld_extra = s.out_channels,
          e.residual_first = residual_first;
          Floats y(kSlots * out, -7.0f);
          Scratch scratch(direct_conv2d_scratch_bytes(s, threads));
          direct_conv2d(team, s, grouped<float>(x.data(), from, direct.of, direct.bias_of), e, y.data(),
                        scratch.data());
          QVERIFY(y.intact() && scratch.intact());
          QVERIFY(y == expected);
          if (!is_planar(s)) continue;
          Floats in_planes(kSlots * out, -7.0f);
          Scratch room(planar_conv2d_scratch_bytes(s, threads));
          const PlanarEpilogue of_planes{nullptr, true, residual.data(), residual_first};
          planar_conv2d(team, s, grouped<float>(x.data(), from, planar.of, planar.bias_of), of_planes, in_planes.data(),
                        room.data());
          QVERIFY(in_planes.intact() && room.intact());
          QVERIFY(in_planes == expected);
        }
      }
    });
  }

  void chains_of_blocks_give_the_bits_of_one_branch_after_the_other_data() {
    QTest::addColumn<bool>("shared");
    QTest::addRow("whole maps") << false;
    QTest::addRow("what is left by rows") << true;
  }
  void chains_of_blocks_give_the_bits_of_one_branch_after_the_other() {
    QFETCH(bool, shared);
    const Conv2dShape s = shared ? shape(7, 40, 12, 12, 3, 1, 1) : shape(7, 18, 6, 6, 3, 1, 1);
    QCOMPARE(maps_shared_by_threads(s, 9, 2), int64_t{shared});
    QCOMPARE(maps_shared_by_threads(s, 9, 7), int64_t{shared ? 2 : 0});
    const std::vector<int32_t> cells = cells_of_slots();
    const size_t map = floats_in(s);
    const Floats x = random_floats(kSlots * map, 1);
    std::vector<Weights> convolutions;
    for (unsigned i = 0; i < 4; ++i) convolutions.emplace_back(s, planar_conv2d_bytes(s), pack_planar_conv2d, 1000 * i);
    std::vector<std::vector<ResidualBlockWeights>> blocks(kBranches);
    const ResidualBlockWeights* of[kBranches];
    for (size_t b = 0; b < kBranches; ++b) {
      for (size_t i = 0; i < convolutions.size(); i += 2)
        blocks[b].push_back({convolutions[i].packed[b].data(), convolutions[i].biases[b].data(),
                             convolutions[i + 1].packed[b].data(), convolutions[i + 1].biases[b].data()});
      of[b] = absent(static_cast<int32_t>(b)) ? nullptr : blocks[b].data();
    }
    for_each_isa([&](Isa) {
      for (const std::vector<int32_t>* from : {static_cast<const std::vector<int32_t>*>(nullptr), &cells}) {
        Floats expected(kSlots * map, -7.0f);
        ThreadTeam alone(1);
        for (int32_t b = 0; b < kBranches; ++b) {
          Conv2dShape one = s;
          one.images = kOffsets[b + 1] - kOffsets[b];
          if (absent(b) || one.images == 0) continue;
          Scratch scratch(residual_blocks_scratch_bytes(one, 1));
          residual_blocks(alone, one, of_branch(x, from, b, map).data(), blocks[static_cast<size_t>(b)],
                          expected.data() + static_cast<size_t>(kOffsets[b]) * map, scratch.data());
        }
        for (const int threads : {1, 2, 3, 7}) {
          ThreadTeam team(threads);
          Floats y(kSlots * map, -7.0f);
          Scratch scratch(residual_blocks_scratch_bytes(s, threads));
          residual_blocks(team, s, grouped<ResidualBlockWeights>(x.data(), from, of, nullptr), 2, y.data(),
                          scratch.data());
          QVERIFY(y.intact() && scratch.intact());
          QVERIFY(y == expected);
        }
      }
    });
  }

  void norms_give_the_bits_of_one_branch_after_the_other() {
    const std::vector<int32_t> cells = cells_of_slots();
    for (const size_t d : {size_t{1}, size_t{37}, size_t{3000}}) {
      const Floats x = random_floats(kSlots * d, 1);
      std::vector<Floats> gains, biases;
      const float *gain_of[kBranches], *bias_of[kBranches];
      gains.reserve(kBranches), biases.reserve(kBranches);
      for (size_t b = 0; b < kBranches; ++b) {
        gains.push_back(random_floats(d, 10 + static_cast<unsigned>(b)));
        biases.push_back(random_floats(d, 20 + static_cast<unsigned>(b)));
        gain_of[b] = absent(static_cast<int32_t>(b)) ? nullptr : gains[b].data();
        bias_of[b] = biases[b].data();
      }
      for_each_isa([&](Isa) {
        for (const std::vector<int32_t>* from : {static_cast<const std::vector<int32_t>*>(nullptr), &cells}) {
          Floats expected(kSlots * d, -7.0f);
          ThreadTeam alone(1);
          for (int32_t b = 0; b < kBranches; ++b)
            if (!absent(b))
              layer_norm(alone, of_branch(x, from, b, d).data(), kOffsets[b + 1] - kOffsets[b], static_cast<int64_t>(d),
                         gain_of[b], bias_of[b], 1e-5f, expected.data() + static_cast<size_t>(kOffsets[b]) * d);
          for (const int threads : {1, 2, 3}) {
            ThreadTeam team(threads);
            Floats y(kSlots * d, -7.0f);
            grouped_layer_norm(team, {x.data(), from ? from->data() : nullptr, kOffsets, kBranches, gain_of, bias_of},
                               static_cast<int64_t>(d), 1e-5f, y.data());
            QVERIFY(y.intact());
            QVERIFY(y == expected);
          }
        }
      });
    }
  }

  void without_maps_nothing_happens() {
    const int32_t offsets[] = {0, 0, 0};
    const float* weights[] = {nullptr, nullptr};
    const GroupedMaps<float> maps{nullptr, nullptr, offsets, 2, weights, nullptr};
    ThreadTeam team(2);
    direct_conv2d(team, shape(4, 4, 2, 2, 3, 1, 1), maps, {}, nullptr, nullptr);
    planar_conv2d(team, shape(4, 4, 2, 2, 3, 1, 1), maps, {}, nullptr, nullptr);
  }
};

}  // namespace stormcell::cpu::testing::grouped_maps_test

using stormcell::cpu::testing::grouped_maps_test::GroupedMapsTest;
STORMCELL_TEST(GroupedMapsTest)
#include "grouped_maps_test.moc"
