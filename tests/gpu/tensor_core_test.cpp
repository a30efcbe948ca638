// The tensor-core kernels without tensor cores: their own loops, copies, descriptors and stores, and what wgmma makes
// of them.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

#include "gpu/grouped/tensor_store.h"
#include "tests/gpu/emulator.h"
#include "tests/gpu/hopper.h"
#include "tests/gpu/products.h"
#include "tests/testing/testing.h"

namespace stormcell::tensor_core_test {
namespace {
using gpu::Bf16;
using gpu::Regime;
using gpu::RegimeLimits;
using gpu::Tile;
using testing::difference;
using testing::HostExecution;
using testing::Play;
using testing::PlayedJoined;
using testing::PlayedSwapped;
using testing::Product;
using testing::random_product;
using testing::run_grid;
using testing::ThreadOrder;

constexpr RegimeLimits kSwapped{0, 64, true}, kLarge{0, 0, true};

/// Empty when a kernel makes the product.
template <class Kernel>
std::string play_product(const Product<Bf16>& p, const RegimeLimits& limits, std::mt19937& random, ThreadOrder order) {
  Play how;
  how.blocks = 1 + static_cast<int>(random() % 4), how.order = order, how.seed = static_cast<uint32_t>(random());
  const std::string wrong = testing::play<Kernel>(p.args, p.x_rows, how);
  return wrong.empty() ? difference(p, limits, {Regime::swapped, Regime::large}) : wrong;
}
template <class Kernel>
std::string play_product(std::mt19937& random, const RegimeLimits& limits, int32_t most_rows, int32_t n, int32_t k,
                         ThreadOrder order) {
  const auto p = random_product<Bf16>(random, Kernel::Shape::kPanels, most_rows, n, k, limits);
  return play_product<Kernel>(p, limits, random, order);
}
/// The same for one or two experts with rows, and what is to happen to the sums.
template <class Kernel>
std::string play_stored(std::mt19937& random, const RegimeLimits& limits, const testing::Stored& stored) {
  for (;;) {
    const auto p = random_product<Bf16>(random, stored, Kernel::Shape::kPanels, 20, 72, 40, limits);
    if (p.experts <= 2 && p.offsets.back() > 0) return play_product<Kernel>(p, limits, random, ThreadOrder::shuffled);
  }
}

}  // namespace

class GpuTensorCoreTest : public QObject {
  Q_OBJECT
 private slots:
  void swizzle_is_the_hardwares() {
    // A tile of any number of rows from an aligned address: our pieces lie where bits 4-6 XOR bits 7-9 put them, each
    // place taken once.
    std::set<int32_t> places;
    for (int32_t row = 0; row < 256; ++row)
      for (int32_t piece = 0; piece < 8; ++piece) {
        const int32_t offset = gpu::swizzled_offset(row, piece);
        for (const uint32_t base : {0u, 1024u, 49152u})
          QCOMPARE(base + static_cast<uint32_t>(offset),
                   gpu::swizzled_address(base + static_cast<uint32_t>(row * 128 + piece * 16)));
        QVERIFY(places.insert(offset).second && offset < 256 * 128);
      }
  }

  void descriptors_find_every_number() {
    // The elements that wgmma reads by a descriptor, said with the descriptor's own fields: row r, half h of step s.
    for (const uint32_t tile : {0u, 1024u, 8192u, 196608u})
      for (int step = 0; step < gpu::kSteps; ++step) {
        const uint64_t d = gpu::matrix_descriptor(tile) + static_cast<uint64_t>(step) * gpu::kDescriptorStep;
        QCOMPARE(d >> 62, uint64_t{1});
        QCOMPARE(d >> 49 & 7, uint64_t{0});
        const auto start = static_cast<uint32_t>(d & 0x3fff) << 4, group = static_cast<uint32_t>(d >> 32 & 0x3fff) << 4;
        for (uint32_t row = 0; row < 128; ++row)
          for (uint32_t half = 0; half < 2; ++half) {
            const uint32_t read = gpu::swizzled_address(start + row / 8 * group + row % 8 * 128 + half * 16);
            const uint32_t written = tile + static_cast<uint32_t>(gpu::swizzled_offset(
                                                static_cast<int32_t>(row), step * 2 + static_cast<int32_t>(half)));
            QCOMPARE(read, written);
          }
      }
  }

  void sums_of_a_warpgroup_cover_the_tile() {
    for (const int32_t n : {8, 16, 32, 64, 128, 256}) {
      std::set<std::pair<int32_t, int32_t>> seen;
      for (int32_t t = 0; t < 128; ++t)
        for (int32_t i = 0; i < n / 2; ++i) {
          const int32_t row = gpu::sum_row(t, i), column = gpu::sum_column(t, i);
          QVERIFY(row >= 0 && row < 64 && column >= 0 && column < n && seen.insert({row, column}).second);
          // The formula of the PTX manual (wgmma m64nNk16, fragment D).
          QCOMPARE(row, 16 * (t / 32) + (t % 32) / 4 + (i % 4 < 2 ? 0 : 8));
          QCOMPARE(column, i / 4 * 8 + t % 4 * 2 + (i & 1));
        }
    }
  }

  void copies_descriptors_and_stores_make_the_product() {
    std::mt19937 random(7);
    for (int i = 0; i < (testing::kSlowEmulator ? 2 : 10); ++i) {
      const auto order = static_cast<ThreadOrder>(i % 3);
      // Columns that end within a box, a panel, a tile; depths that end within a stage.
      const int32_t n = 8 * (1 + static_cast<int32_t>(random() % 24)),
                    wide = 8 * (1 + static_cast<int32_t>(random() % 48)),
                    k = 8 * (1 + static_cast<int32_t>(random() % 18));
      QCOMPARE(play_product<PlayedSwapped<1>>(random, kSwapped, 64, n, k, order), std::string());
      QCOMPARE(play_product<PlayedSwapped<2>>(random, kSwapped, 64, n, k, order), std::string());
      QCOMPARE(play_product<PlayedJoined<1>>(random, kLarge, 150, wide, k, order), std::string());
      QCOMPARE(play_product<PlayedJoined<2>>(random, kLarge, 150, wide, k, order), std::string());
    }
  }

  // Epilogues that layers have are code of their own (with_epilogue), and so is that of all others: each of them, by
  // each kernel.
  void every_way_of_storing_makes_the_product() {
    std::mt19937 random(12);
    for (int activation = 0; activation < 5; ++activation)
      for (const bool bias : {false, true})
        for (const bool of_slots : {false, true}) {
          const testing::Stored stored{static_cast<gpu::Activation>(activation), bias, of_slots, of_slots};
          QCOMPARE(play_stored<PlayedSwapped<1>>(random, kSwapped, stored), std::string());
          QCOMPARE(play_stored<PlayedSwapped<2>>(random, kSwapped, stored), std::string());
          if (testing::kSlowEmulator) continue;
          QCOMPARE(play_stored<PlayedJoined<1>>(random, kLarge, stored), std::string());
          QCOMPARE(play_stored<PlayedJoined<2>>(random, kLarge, stored), std::string());
        }
  }

  // Both regimes' tiles by one launch's blocks: experts of both kinds, of few rows alone, and of none.
  void one_launch_makes_the_product_of_two() {
    std::mt19937 random(10);
    for (int i = 0; i < (testing::kSlowEmulator ? 2 : 12); ++i) {
      const auto order = static_cast<ThreadOrder>(i % 3);
      const int32_t n = 8 * (1 + static_cast<int32_t>(random() % 48)),
                    k = 8 * (1 + static_cast<int32_t>(random() % 50)),
                    most_rows = i % 4 == 0   ? 64
                                : i % 4 == 1 ? 10
                                             : 150;
      QCOMPARE(play_product<PlayedJoined<1>>(random, kSwapped, most_rows, n, k, order), std::string());
      QCOMPARE(play_product<PlayedJoined<2>>(random, kSwapped, most_rows, n, k, order), std::string());
    }
  }

  // Two lists, one behind the other: each tile once, and no block two more than another.
  void tiles_are_dealt_out_evenly() {
    std::mt19937 random(13);
    for (int i = 0; i < 200; ++i) {
      const auto blocks = static_cast<int64_t>(1 + random() % 7), large = static_cast<int64_t>(random() % 20),
                 swapped = static_cast<int64_t>(random() % 20);
      std::set<std::pair<Regime, int64_t>> taken;
      size_t fewest = SIZE_MAX, most = 0, tiles = 0;
      for (int64_t block = 0; block < blocks; ++block) {
        const size_t before = tiles;
        int64_t next = block;
        gpu::take_tiles(next, blocks, large, [&](int64_t t) { ++tiles, taken.insert({Regime::large, t}); });
        gpu::take_tiles(next, blocks, swapped, [&](int64_t t) { ++tiles, taken.insert({Regime::swapped, t}); });
        fewest = std::min(fewest, tiles - before), most = std::max(most, tiles - before);
      }
      QVERIFY(tiles == taken.size() && tiles == static_cast<size_t>(large + swapped) && most - fewest <= 1);
    }
  }

  // Two tiles by the same warps: what slots have of their own is not the first tile's in the second, whose slots are
  // fewer.
  void slots_of_a_tile_are_its_own() {
    std::mt19937 random(11);
    const auto play = [&]<int kFirst, int kSecond>(ThreadOrder order) {
      auto p = random_product<Bf16>(random, 1, 64, 64, 64, {0, 64, true});
      p.offsets = {0, kFirst, kFirst + kSecond}, p.experts = 2;
      constexpr size_t kSlots = kFirst + kSecond;
      std::vector<float> weight(kSlots);
      std::vector<int32_t> scatter(kSlots);
      for (size_t s = 0; s < kSlots; ++s)
        weight[s] = 1 + static_cast<float>(s), scatter[s] = static_cast<int32_t>(kSlots - 1 - s);
      p.y.assign(kSlots * 64, Bf16{0});
      auto& a = p.args;
      a.n = 64, a.y = p.y.data(), a.weight = weight.data(), a.scatter = scatter.data(), a.bias = nullptr;
      a.activation = gpu::Activation::none;
      const std::string wrong = run_grid(1, 128, sizeof(gpu::TileSlots), order, [&](HostExecution& x) {
        auto& memory = x.shared<gpu::TileSlots>();
        const auto store = [&]<int kNarrow>(const Tile& tile) {
          const gpu::SwappedFetched<kNarrow, 1> before(x, a, tile, x.thread(), memory);
          float sum[1][kNarrow / 2];
          std::fill_n(sum[0], kNarrow / 2, 1.0f);
          gpu::store_swapped<kNarrow, 1>(x, a, tile, x.thread(), sum, before);
        };
        store.template operator()<gpu::narrow_side(kFirst)>(Tile{0, 0, kFirst, 0});
        store.template operator()<gpu::narrow_side(kSecond)>(Tile{1, kFirst, kSecond, 0});
      });
      bool right = wrong.empty();
      for (size_t s = 0; s < kSlots; ++s)
        for (size_t c = 0; c < 64; ++c) right = right && gpu::to_float(p.y[(kSlots - 1 - s) * 64 + c]) == weight[s];
      return right;
    };
    for (const auto order : {ThreadOrder::ascending, ThreadOrder::descending, ThreadOrder::shuffled}) {
      QVERIFY((play.operator()<64, 3>(order)));
      QVERIFY((play.operator()<33, 40>(order)));
      QVERIFY((play.operator()<8, 17>(order)));
      QVERIFY((play.operator()<16, 9>(order)));
    }
  }

  void words_and_columns_pair() {
    for (const ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::shuffled}) {
      bool right = true;
      const std::string wrong = run_grid(1, 64, 0, order, [&](HostExecution& x) {
        const auto lane = static_cast<uint32_t>(x.thread());
        uint32_t word[2] = {lane * 16, lane * 16 + 1};
        gpu::pair_words(x, word);
        for (uint32_t i = 0; i < 2; ++i) right = right && word[i] == (lane / 2 * 2 + i) * 16 + lane % 2;
        const uint32_t two =
            gpu::pair_columns(x, gpu::two_bf16(static_cast<float>(lane), static_cast<float>(lane) + 0.5f));
        const bool upper = lane / 4 % 2 == 1;
        const auto low = static_cast<float>(upper ? lane - 4 : lane) + (upper ? 0.5f : 0.0f);
        right = right && gpu::low_bf16(two) == low && gpu::high_bf16(two) == low + 4;
      });
      QCOMPARE(wrong, std::string());
      QVERIFY(right);
    }
  }
};

STORMCELL_TEST(GpuTensorCoreTest)
}  // namespace stormcell::tensor_core_test
#include "tensor_core_test.moc"
