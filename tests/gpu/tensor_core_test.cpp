// The tensor-core kernels without tensor cores: their copies, descriptors and stores, and what wgmma makes of them.
#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "gpu/grouped/tensor_store.h"
#include "tests/gpu/emulator.h"
#include "tests/gpu/products.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using gpu::Bf16;
using gpu::Regime;
using gpu::RegimeLimits;
using gpu::Tile;
using testing::difference;
using testing::HostExecution;
using testing::Product;
using testing::random_product;
using testing::run_grid;
using testing::ThreadOrder;

/// A stage of shared memory, at an address that is a multiple of 1,024; what nobody fills is NaN.
template <class Shape>
struct Stage {
  std::vector<std::byte> memory = std::vector<std::byte>(Shape::kStageBytes, std::byte{0xff});
  bool sources_right = true;

  /// What the producer brings from `depth` on: boxes as the copy engine lays them, then the threads' pieces.
  Stage(const Product<Bf16>& p, const Tile& tile, int32_t depth, int32_t rows_read) {
    for (int block = 0; block < Shape::kBlocks; ++block) bring(p, tile, depth, block, rows_read);
  }
  void bring(const Product<Bf16>& p, const Tile& tile, int32_t stage_depth, int block, int32_t rows_read) {
    const auto& a = p.args;
    const int32_t depth = stage_depth + block * gpu::kTileDepth;
    for (int box = 0; box < Shape::kBoxes; ++box)
      for (int32_t r = 0; r < Shape::kBoxRows; ++r)
        for (int32_t d = 0; d < gpu::kTileDepth; ++d) {
          const int32_t row = gpu::box_row<Shape>(a.n, tile.column_block, box) + r;
          const bool inside = row < a.n * p.panels && depth + d < a.k;
          const int64_t from = (int64_t{tile.expert} * p.panels * a.n + row) * a.k + depth + d;
          const Bf16 number = inside ? a.w[from] : Bf16{0};
          const auto to = static_cast<size_t>(block) * Shape::kWeightBlockBytes + static_cast<size_t>(box) * Shape::kBoxBytes +
                          gpu::swizzled_address(static_cast<uint32_t>(r * gpu::kRowBytes + d * 2));
          std::memcpy(memory.data() + to, &number, 2);
        }
    for (int thread = 0; thread < 128; ++thread) {
      const gpu::RowPieces<Shape> pieces(thread);
      for (int j = 0; j < pieces.kMine; ++j) {
        if (pieces.row(j) >= rows_read) continue;
        const Bf16* from = pieces.source(a, tile, j);  // also of a row that is not there: its address is taken
        const auto of_row = (from - p.x.data() - pieces.piece * 8) / a.k;
        if (from < p.x.data() || of_row >= p.x_rows) sources_right = false;
        std::byte* to = memory.data() + Shape::kWeightBytes + block * Shape::kRowBlockBytes + pieces.offset(j);
        if (pieces.is_row(tile, j) && pieces.is_within(a.k - stage_depth, block))
          std::memcpy(to, from + depth, 16);
        else
          std::memset(to, 0, 16);
      }
    }
  }
  /// Number d of row `row` of the 16 deep operand that a descriptor describes.
  float number(uint64_t descriptor, uint32_t row, uint32_t d) const {
    const auto start = static_cast<uint32_t>(descriptor & 0x3fff) << 4, group = static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4;
    Bf16 value;
    std::memcpy(&value, memory.data() + gpu::swizzled_address(start + row / 8 * group + row % 8 * 128 + d * 2), 2);
    return gpu::to_float(value);
  }
};

/// Sums of one warpgroup, [64][n].
struct Sums {
  uint32_t n;
  std::vector<float> sum = std::vector<float>(size_t{64} * n, 0.0f);
  template <class Shape>
  void multiply(const Stage<Shape>& stage, uint32_t a, uint32_t b) {
    for (uint64_t step = 0; step < gpu::kSteps * Shape::kBlocks; ++step) {
      const uint64_t block = step / gpu::kSteps, within = step % gpu::kSteps * gpu::kDescriptorStep;
      const auto offset = [&](uint32_t of) {
        return block * (of >= Shape::kWeightBytes ? Shape::kRowBlockBytes : Shape::kWeightBlockBytes) / 16;
      };
      const uint64_t left = gpu::matrix_descriptor(a) + offset(a) + within, right = gpu::matrix_descriptor(b) + offset(b) + within;
      for (uint32_t i = 0; i < 64; ++i)
        for (uint32_t j = 0; j < n; ++j)
          for (uint32_t d = 0; d < 16; ++d) sum[i * n + j] += stage.number(left, i, d) * stage.number(right, j, d);
    }
  }
  /// What thread t holds.
  template <size_t kHeld>
  void give(int32_t t, float (&held)[kHeld]) const {
    for (int32_t i = 0; i < static_cast<int32_t>(kHeld); ++i)
      held[i] = sum[static_cast<size_t>(gpu::sum_row(t, i)) * n + static_cast<size_t>(gpu::sum_column(t, i))];
  }
};

template <int kNarrow, class Shape>
std::string play_swapped_tile(const Product<Bf16>& p, const Tile& tile, ThreadOrder order) {
  constexpr int kPanels = Shape::kPanels;
  std::vector<Sums> sums(kPanels, Sums{kNarrow});
  for (int32_t depth = 0; depth < p.args.k; depth += Shape::kDepth) {
    const Stage<Shape> stage(p, tile, depth, gpu::narrow_side(tile.rows));
    if (!stage.sources_right) return "an address outside of x";
    for (uint32_t q = 0; q < kPanels; ++q) sums[q].multiply(stage, q * Shape::kBoxBytes, Shape::kWeightBytes);
  }
  return run_grid(1, 128, sizeof(gpu::TileSlots), order, [&](HostExecution& x) {
    const gpu::SwappedFetched<kNarrow, kPanels> before(x, p.args, tile, x.thread(), x.shared<gpu::TileSlots>());
    float held[kPanels][kNarrow / 2];
    for (size_t q = 0; q < kPanels; ++q) sums[q].give(x.thread(), held[q]);
    gpu::store_swapped<kNarrow, kPanels>(x, p.args, tile, x.thread(), held, before);
  });
}
template <class Shape>
std::string play_tile(const Product<Bf16>& p, const Tile& tile, ThreadOrder order, std::integral_constant<Regime, Regime::swapped>) {
  switch (gpu::narrow_side(tile.rows)) {
    case 8:
      return play_swapped_tile<8, Shape>(p, tile, order);
    case 16:
      return play_swapped_tile<16, Shape>(p, tile, order);
    case 32:
      return play_swapped_tile<32, Shape>(p, tile, order);
    default:
      return play_swapped_tile<64, Shape>(p, tile, order);
  }
}
template <class Shape>
std::string play_tile(const Product<Bf16>& p, const Tile& tile, ThreadOrder order, std::integral_constant<Regime, Regime::large>) {
  std::vector<Sums> sums(2, Sums{256});  // of two warpgroups
  for (int32_t depth = 0; depth < p.args.k; depth += Shape::kDepth) {
    const Stage<Shape> stage(p, tile, depth, Shape::kRows);
    if (!stage.sources_right) return "an address outside of x";
    for (uint32_t group = 0; group < 2; ++group) sums[group].multiply(stage, Shape::kWeightBytes + group * 64 * gpu::kRowBytes, 0);
  }
  return run_grid(1, 256, 0, order, [&](HostExecution& x) {
    const int group = x.thread() / 128, thread = x.thread() % 128;
    float all[128], held[2][64];
    sums[static_cast<size_t>(group)].give(thread, all);
    std::memcpy(held, all, sizeof held);
    gpu::store_large<Shape::kPanels>(x, p.args, tile, group, thread, held);
  });
}

/// Empty when all tiles of one tensor-core regime make the product.
template <Regime kRegime, class Shape>
std::string play_product(Product<Bf16>& p, const RegimeLimits& limits, ThreadOrder order) {
  const gpu::TileList list = gpu::tile_list(p.map.data(), kRegime);
  const int32_t column_blocks = gpu::parts(p.args.n, Shape::kColumns);
  for (int64_t t = 0; t < gpu::tiles_of(list, column_blocks); ++t) {
    const Tile tile = gpu::find_tile(list, p.args.offsets, column_blocks, Shape::kRows, t);
    const std::string wrong = play_tile<Shape>(p, tile, order, std::integral_constant<Regime, kRegime>());
    if (!wrong.empty()) return wrong;
  }
  return difference(p, limits, {kRegime});
}
template <Regime kRegime, class Shape>
std::string play_product(std::mt19937& random, const RegimeLimits& limits, int32_t most_rows, int32_t n, int32_t k, ThreadOrder order) {
  auto p = random_product<Bf16>(random, Shape::kPanels, most_rows, n, k, limits);
  return play_product<kRegime, Shape>(p, limits, order);
}
/// The same for one or two experts with rows, and what is to happen to the sums.
template <Regime kRegime, class Shape>
std::string play_stored(std::mt19937& random, const RegimeLimits& limits, const testing::Stored& stored) {
  for (;;) {
    auto p = random_product<Bf16>(random, stored, Shape::kPanels, 20, 72, 40, limits);
    if (p.experts <= 2 && p.offsets.back() > 0) return play_product<kRegime, Shape>(p, limits, ThreadOrder::shuffled);
  }
}

/// The joined kernel's way: each block its tiles of large, then those of swapped. Empty when the product is right and each tile was taken
/// once.
template <int kPanels>
std::string play_joined(std::mt19937& random, int32_t most_rows, int32_t n, int32_t k, int64_t blocks, ThreadOrder order) {
  using Wide = gpu::JoinedShape<kPanels>;
  using Narrow = gpu::JoinedNarrowShape<kPanels>;
  const RegimeLimits limits{0, 64, true};
  auto p = random_product<Bf16>(random, kPanels, most_rows, n, k, limits);
  std::set<std::pair<Regime, int64_t>> taken;
  std::string wrong;
  const auto take = [&]<class Shape, Regime kRegime>(int64_t& next) {
    const gpu::TileList list = gpu::tile_list(p.map.data(), kRegime);
    const int32_t column_blocks = gpu::parts(n, Shape::kColumns);
    const int64_t tiles = gpu::tiles_of(list, column_blocks);
    gpu::take_tiles(next, blocks, tiles, [&](int64_t t) {
      if (t < 0 || !taken.insert({kRegime, t}).second) wrong = "a tile twice";
      const Tile tile = gpu::find_tile(list, p.args.offsets, column_blocks, Shape::kRows, t);
      if (wrong.empty()) wrong = play_tile<Shape>(p, tile, order, std::integral_constant<Regime, kRegime>());
    });
    return tiles;
  };
  int64_t tiles = 0, fewest = INT64_MAX, most = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const size_t before = taken.size();
    int64_t next = block;
    tiles = take.template operator()<Wide, Regime::large>(next);
    tiles += take.template operator()<Narrow, Regime::swapped>(next);
    const auto mine = static_cast<int64_t>(taken.size() - before);
    fewest = std::min(fewest, mine), most = std::max(most, mine);
  }
  if (wrong.empty() && static_cast<int64_t>(taken.size()) != tiles) wrong = "a tile is missing";
  if (wrong.empty() && most - fewest > 1) wrong = "a block takes two tiles more than another";
  return wrong.empty() ? difference(p, limits, {Regime::swapped, Regime::large}) : wrong;
}

}  // namespace

class GpuTensorCoreTest : public QObject {
  Q_OBJECT
 private slots:
  void swizzle_is_the_hardwares() {
    // A tile of any number of rows from an aligned address: our pieces lie where bits 4-6 XOR bits 7-9 put them, each place taken once.
    std::set<int32_t> places;
    for (int32_t row = 0; row < 256; ++row)
      for (int32_t piece = 0; piece < 8; ++piece) {
        const int32_t offset = gpu::swizzled_offset(row, piece);
        for (const uint32_t base : {0u, 1024u, 49152u})
          QCOMPARE(base + static_cast<uint32_t>(offset), gpu::swizzled_address(base + static_cast<uint32_t>(row * 128 + piece * 16)));
        QVERIFY(places.insert(offset).second && offset < 256 * 128);
      }
  }

  void descriptors_find_every_number() {
    // What wgmma reads by a descriptor, said with the descriptor's own fields: row r, half h of step s.
    for (const uint32_t tile : {0u, 1024u, 8192u, 196608u})
      for (int step = 0; step < gpu::kSteps; ++step) {
        const uint64_t d = gpu::matrix_descriptor(tile) + static_cast<uint64_t>(step) * gpu::kDescriptorStep;
        QCOMPARE(d >> 62, uint64_t{1});
        QCOMPARE(d >> 49 & 7, uint64_t{0});
        const auto start = static_cast<uint32_t>(d & 0x3fff) << 4, group = static_cast<uint32_t>(d >> 32 & 0x3fff) << 4;
        for (uint32_t row = 0; row < 128; ++row)
          for (uint32_t half = 0; half < 2; ++half) {
            const uint32_t read = gpu::swizzled_address(start + row / 8 * group + row % 8 * 128 + half * 16);
            const uint32_t written =
                tile + static_cast<uint32_t>(gpu::swizzled_offset(static_cast<int32_t>(row), step * 2 + static_cast<int32_t>(half)));
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
      const int32_t n = 8 * (1 + static_cast<int32_t>(random() % 24)), wide = 8 * (1 + static_cast<int32_t>(random() % 48)),
                    k = 8 * (1 + static_cast<int32_t>(random() % 18));
      const RegimeLimits swapped{0, 64, true}, large{0, 0, true};
      QCOMPARE((play_product<Regime::swapped, gpu::SwappedShape<1>>(random, swapped, 64, n, k, order)), std::string());
      QCOMPARE((play_product<Regime::swapped, gpu::SwappedShape<2>>(random, swapped, 64, n, k, order)), std::string());
      QCOMPARE((play_product<Regime::large, gpu::LargeShape<1>>(random, large, 150, wide, k, order)), std::string());
      QCOMPARE((play_product<Regime::large, gpu::LargeShape<2>>(random, large, 150, wide, k, order)), std::string());
    }
  }

  // Epilogues that layers have are code of their own (with_epilogue), and so is that of all others: each of them, by each kernel.
  void every_way_of_storing_makes_the_product() {
    std::mt19937 random(12);
    const RegimeLimits swapped{0, 64, true}, large{0, 0, true};
    for (int activation = 0; activation < 5; ++activation)
      for (const bool bias : {false, true})
        for (const bool of_slots : {false, true}) {
          const testing::Stored stored{static_cast<gpu::Activation>(activation), bias, of_slots, of_slots};
          QCOMPARE((play_stored<Regime::swapped, gpu::SwappedShape<1>>(random, swapped, stored)), std::string());
          QCOMPARE((play_stored<Regime::swapped, gpu::SwappedShape<2>>(random, swapped, stored)), std::string());
          if (testing::kSlowEmulator) continue;
          QCOMPARE((play_stored<Regime::large, gpu::LargeShape<1>>(random, large, stored)), std::string());
          QCOMPARE((play_stored<Regime::large, gpu::LargeShape<2>>(random, large, stored)), std::string());
        }
  }

  // Both regimes' tiles by one launch's blocks: experts of both kinds, of few rows alone, and of none.
  void one_launch_makes_the_product_of_two() {
    std::mt19937 random(10);
    for (int i = 0; i < (testing::kSlowEmulator ? 2 : 12); ++i) {
      const auto order = static_cast<ThreadOrder>(i % 3);
      const int32_t n = 8 * (1 + static_cast<int32_t>(random() % 48)), k = 8 * (1 + static_cast<int32_t>(random() % 50)),
                    most_rows = i % 4 == 0   ? 64
                                : i % 4 == 1 ? 10
                                             : 150;
      const auto blocks = static_cast<int64_t>(1 + random() % 7);
      QCOMPARE((play_joined<1>(random, most_rows, n, k, blocks, order)), std::string());
      QCOMPARE((play_joined<2>(random, most_rows, n, k, blocks, order)), std::string());
    }
  }

  // Two tiles by the same warps: what slots have of their own is not the first tile's in the second, whose slots are fewer.
  void slots_of_a_tile_are_its_own() {
    std::mt19937 random(11);
    const auto play = [&]<int kFirst, int kSecond>(ThreadOrder order) {
      auto p = random_product<Bf16>(random, 1, 64, 64, 64, {0, 64, true});
      p.offsets = {0, kFirst, kFirst + kSecond}, p.experts = 2;
      constexpr size_t kSlots = kFirst + kSecond;
      std::vector<float> weight(kSlots);
      std::vector<int32_t> scatter(kSlots);
      for (size_t s = 0; s < kSlots; ++s) weight[s] = 1 + static_cast<float>(s), scatter[s] = static_cast<int32_t>(kSlots - 1 - s);
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
        const uint32_t two = gpu::pair_columns(x, gpu::two_bf16(static_cast<float>(lane), static_cast<float>(lane) + 0.5f));
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
}  // namespace stormcell
#include "tensor_core_test.moc"
