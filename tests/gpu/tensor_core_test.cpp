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

  /// What the producer brings from `depth` on: boxes as the copy engine lays them, then the threads' pieces.
  Stage(const Product<Bf16>& p, const Tile& tile, int32_t depth, int32_t rows_read) {
    for (int block = 0; block < Shape::kBlocks; ++block) bring(p, tile, depth + block * gpu::kTileDepth, block, rows_read);
  }
  void bring(const Product<Bf16>& p, const Tile& tile, int32_t depth, int block, int32_t rows_read) {
    const auto& a = p.args;
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
        std::byte* to = memory.data() + Shape::kWeightBytes + block * Shape::kRowBlockBytes + pieces.offset(j);
        if (pieces.is_live(a, tile, depth, j))
          std::memcpy(to, pieces.source(a, tile, j) + depth, 16);
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

template <int kNarrow, int kPanels>
std::string play_swapped_tile(const Product<Bf16>& p, const Tile& tile, ThreadOrder order) {
  using Shape = gpu::SwappedShape<kPanels>;
  std::vector<Sums> sums(kPanels, Sums{kNarrow});
  for (int32_t depth = 0; depth < p.args.k; depth += Shape::kDepth) {
    const Stage<Shape> stage(p, tile, depth, gpu::narrow_side(tile.rows));
    for (uint32_t q = 0; q < kPanels; ++q) sums[q].multiply(stage, q * Shape::kBoxBytes, Shape::kWeightBytes);
  }
  return run_grid(1, 128, 0, order, [&](HostExecution& x) {
    float held[kPanels][kNarrow / 2];
    for (size_t q = 0; q < kPanels; ++q) sums[q].give(x.thread(), held[q]);
    gpu::store_swapped<kNarrow, kPanels>(x, p.args, tile, x.thread(), held);
  });
}
template <int kPanels>
std::string play_tile(const Product<Bf16>& p, const Tile& tile, ThreadOrder order, std::integral_constant<Regime, Regime::swapped>) {
  switch (gpu::narrow_side(tile.rows)) {
    case 8:
      return play_swapped_tile<8, kPanels>(p, tile, order);
    case 16:
      return play_swapped_tile<16, kPanels>(p, tile, order);
    case 32:
      return play_swapped_tile<32, kPanels>(p, tile, order);
    default:
      return play_swapped_tile<64, kPanels>(p, tile, order);
  }
}
template <int kPanels>
std::string play_tile(const Product<Bf16>& p, const Tile& tile, ThreadOrder order, std::integral_constant<Regime, Regime::large>) {
  using Shape = gpu::LargeShape<kPanels>;
  std::vector<Sums> sums(4, Sums{128});  // two warpgroups, two halves
  for (int32_t depth = 0; depth < p.args.k; depth += Shape::kDepth) {
    const Stage<Shape> stage(p, tile, depth, Shape::kRows);
    for (uint32_t group = 0; group < 2; ++group)
      for (uint32_t half = 0; half < 2; ++half)
        sums[group * 2 + half].multiply(stage, Shape::kWeightBytes + group * 64 * gpu::kRowBytes, half * 128 * gpu::kRowBytes);
  }
  return run_grid(1, 256, 0, order, [&](HostExecution& x) {
    const int group = x.thread() / 128, thread = x.thread() % 128;
    float held[2][64];
    for (size_t half = 0; half < 2; ++half) sums[static_cast<size_t>(group) * 2 + half].give(thread, held[half]);
    gpu::store_large<kPanels>(x, p.args, tile, group, thread, held);
  });
}

/// Empty when all tiles of one tensor-core regime make the product.
template <Regime kRegime, int kPanels>
std::string play_product(std::mt19937& random, const RegimeLimits& limits, int32_t most_rows, int32_t n, int32_t k, ThreadOrder order) {
  using Shape = std::conditional_t<kRegime == Regime::swapped, gpu::SwappedShape<kPanels>, gpu::LargeShape<kPanels>>;
  auto p = random_product<Bf16>(random, kPanels, most_rows, n, k, limits);
  const gpu::TileList list = gpu::tile_list(p.map.data(), kRegime);
  const int32_t column_blocks = (n + Shape::kColumns - 1) / Shape::kColumns;
  for (int64_t t = 0; t < gpu::tiles_of(list, column_blocks); ++t) {
    const Tile tile = gpu::find_tile(list, p.args.offsets, column_blocks, Shape::kRows, t);
    const std::string wrong = play_tile<kPanels>(p, tile, order, std::integral_constant<Regime, kRegime>());
    if (!wrong.empty()) return wrong;
  }
  return difference(p, limits, kRegime);
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
    for (const int32_t n : {8, 16, 32, 64, 128}) {
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
      QCOMPARE((play_product<Regime::swapped, 1>(random, swapped, 64, n, k, order)), std::string());
      QCOMPARE((play_product<Regime::swapped, 2>(random, swapped, 64, n, k, order)), std::string());
      QCOMPARE((play_product<Regime::large, 1>(random, large, 150, wide, k, order)), std::string());
      QCOMPARE((play_product<Regime::large, 2>(random, large, 150, wide, k, order)), std::string());
    }
  }

  // The barriers' protocol, played through over several tiles: whoever can go on does, in a random order, consumers at paces of their own;
  // nobody may be stuck, and no stage may be refilled before all have read it or read before it was filled.
  void producers_and_consumers_never_wait_for_each_other() {
    std::mt19937 random(5);
    using Large = gpu::LargeShape<1>;
    using Swapped = gpu::SwappedShape<1>;
    using SwappedGated = gpu::SwappedShape<2>;
    for (int i = 0; i < 50; ++i) {
      std::vector<int> tiles;  // stages of each
      for (uint32_t t = 0; t < 1 + random() % 6; ++t) tiles.push_back(static_cast<int>(1 + random() % (i % 5 == 0 ? 100 : 9)));
      QCOMPARE((play<Large::kStages, Large::kConsumers>(random, Large::kLag, tiles)), std::string());
      QCOMPARE((play<Swapped::kStages, Swapped::kConsumers>(random, Swapped::kLag, tiles)), std::string());
      QCOMPARE((play<SwappedGated::kStages, SwappedGated::kConsumers>(random, SwappedGated::kLag, tiles)), std::string());
      QCOMPARE((play<4, 2>(random, 2, {})), std::string());
    }
    QVERIFY(gpu::is_live(4, 2) && !gpu::is_live(4, 3));
    QCOMPARE((play<4, 1>(random, 3, {1000})), std::string("nobody can go on"));
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

 private:
  /// Phases as the hardware counts them.
  struct Barrier {
    int expected = 1, arrived = 0, completed = 0;
    void arrive() {
      if (++arrived == expected) arrived = 0, ++completed;
    }
    bool done(uint32_t parity) const { return (static_cast<uint32_t>(completed) & 1) != parity; }
  };
  /// Uses of the ring: [tile] how many; empty, or what went wrong.
  template <int kStages, int kConsumers>
  static std::string play(std::mt19937& random, int lag, const std::vector<int>& tiles) {
    using Place = gpu::RingPlace<kStages>;
    struct Stage {
      Barrier full{2}, empty{kConsumers};  // rows and weights
      int rows = -1, weights = -1;         // the use that it holds
    } stages[kStages];
    int uses = 0;
    std::set<int> ends;
    for (const int n : tiles) ends.insert(uses += n);
    int read[kConsumers] = {}, given_back[kConsumers] = {}, filled = 0, said = 0, asked = 0;
    Place reads[kConsumers], before[kConsumers], fills, says, asks;
    std::vector<int> on_their_way;  // stages whose weights have been asked for
    const auto all_read = [&](int use) {
      return std::all_of(given_back, given_back + kConsumers, [&](int n) { return n > use - kStages; });
    };
    for (;;) {
      std::vector<int> able;  // 0 rows, 1 weights, 2 weights land, 3 the last rows are said, 4 on consumers
      if (filled < uses && stages[fills.stage].empty.done(fills.parity ^ 1)) able.push_back(0);
      if (asked < uses && stages[asks.stage].empty.done(asks.parity ^ 1)) able.push_back(1);
      if (!on_their_way.empty()) able.push_back(2);
      if (filled == uses && said < uses) able.push_back(3);
      for (int c = 0; c < kConsumers; ++c)
        if (read[c] < uses && stages[reads[c].stage].full.done(reads[c].parity)) able.push_back(4 + c);
      if (able.empty()) break;
      const int who = able[random() % able.size()];
      if (who == 0) {
        if (!all_read(filled)) return "rows over what is still read";
        stages[fills.stage].rows = filled++;
        fills.next();
      }
      if (who == 3 || (who == 0 && filled - said > lag)) ++said, stages[says.stage].full.arrive(), says.next();
      if (who == 1) {
        if (!all_read(asked)) return "weights over what is still read";
        stages[asks.stage].weights = asked++;
        on_their_way.push_back(asks.stage);
        asks.next();
      } else if (who == 2) {
        const auto which = static_cast<std::ptrdiff_t>(random() % on_their_way.size());
        stages[on_their_way[static_cast<size_t>(which)]].full.arrive();
        on_their_way.erase(on_their_way.begin() + which);
      } else if (who >= 4) {
        const int c = who - 4;
        if (stages[reads[c].stage].rows != read[c] || stages[reads[c].stage].weights != read[c]) return "read before it was filled";
        const bool begins = read[c] == 0 || ends.count(read[c]);
        if (!begins) stages[before[c].stage].empty.arrive(), ++given_back[c];
        before[c] = reads[c];
        reads[c].next();
        if (ends.count(++read[c])) stages[before[c].stage].empty.arrive(), ++given_back[c];
      }
    }
    return std::all_of(read, read + kConsumers, [&](int n) { return n == uses; }) ? "" : "nobody can go on";
  }
};

STORMCELL_TEST(GpuTensorCoreTest)
}  // namespace stormcell
#include "tensor_core_test.moc"
