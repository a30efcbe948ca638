// The tensor-core kernels without tensor cores: their copies, descriptors and stores, and what wgmma makes of them.
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

  /// What the producer brings for a depth of 64 from `depth` on: boxes as the copy engine lays them, then the threads' pieces.
  Stage(const Product<Bf16>& p, const Tile& tile, int32_t depth, int32_t rows_read) {
    const auto& a = p.args;
    for (int box = 0; box < Shape::kBoxes; ++box)
      for (int32_t r = 0; r < Shape::kBoxRows; ++r)
        for (int32_t d = 0; d < gpu::kTileDepth; ++d) {
          const int32_t row = gpu::box_row<Shape>(a.n, tile.column_block, box) + r;
          const bool inside = row < a.n * p.panels && depth + d < a.k;
          const int64_t from = (int64_t{tile.expert} * p.panels * a.n + row) * a.k + depth + d;
          const Bf16 number = inside ? a.w[from] : Bf16{0};
          const auto to =
              static_cast<size_t>(box) * Shape::kBoxBytes + gpu::swizzled_address(static_cast<uint32_t>(r * gpu::kRowBytes + d * 2));
          std::memcpy(memory.data() + to, &number, 2);
        }
    for (int thread = 0; thread < 128; ++thread) {
      const gpu::RowPieces<Shape> pieces(thread);
      for (int j = 0; j < pieces.kMine; ++j) {
        if (pieces.row(j) >= rows_read) continue;
        std::byte* to = memory.data() + Shape::kWeightBytes + pieces.offset(j);
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
    for (uint64_t step = 0; step < gpu::kSteps; ++step) {
      const uint64_t left = gpu::matrix_descriptor(a) + step * gpu::kDescriptorStep,
                     right = gpu::matrix_descriptor(b) + step * gpu::kDescriptorStep;
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
  for (int32_t depth = 0; depth < p.args.k; depth += gpu::kTileDepth) {
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
  for (int32_t depth = 0; depth < p.args.k; depth += gpu::kTileDepth) {
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

  // The barriers' protocol, played through: whoever can go on does, in a random order; nobody may be stuck, and no stage may be refilled
  // before it was read or read before it was filled.
  void producer_and_consumer_never_wait_for_each_other() {
    std::mt19937 random(5);
    QVERIFY(play<4>(random, 2, 1) && play<4>(random, 2, 2) && play<4>(random, 2, 1000));
    QVERIFY(play<8>(random, 4, 3) && play<8>(random, 4, 1000) && play<12>(random, 4, 1) && play<12>(random, 4, 5) &&
            play<12>(random, 4, 1000));
    QVERIFY(gpu::is_live(4, 2) && !gpu::is_live(4, 3));
    QVERIFY(!play<4>(random, 3, 1000));
  }

  void quads_transpose_and_rows_pair() {
    for (const ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::shuffled}) {
      bool right = true;
      const std::string wrong = run_grid(1, 64, 0, order, [&](HostExecution& x) {
        const auto lane = static_cast<uint32_t>(x.thread());
        uint32_t word[4];
        for (uint32_t i = 0; i < 4; ++i) word[i] = lane * 16 + i;
        gpu::transpose_quad(x, word);
        for (uint32_t i = 0; i < 4; ++i) right = right && word[i] == (lane / 4 * 4 + i) * 16 + lane % 4;
        const uint32_t two = gpu::pair_columns(x, static_cast<float>(lane), static_cast<float>(lane) + 0.5f);
        const bool upper = lane / 4 % 2 == 1;
        const auto low = static_cast<float>(upper ? lane - 4 : lane) + (upper ? 0.5f : 0.0f);
        right = right && gpu::low_bf16(two) == low && gpu::high_bf16(two) == low + 4;
      });
      QCOMPARE(wrong, std::string());
      QVERIFY(right);
    }
  }

 private:
  template <int kStages>
  static bool play(std::mt19937& random, int lag, int uses) {
    using Uses = gpu::Ring<kStages>;
    struct Barrier {
      int completed = 0;  // phases
      bool done(uint32_t parity) const { return (static_cast<uint32_t>(completed) & 1) != parity; }
    } full[kStages], empty[kStages];
    int filled = 0, said = 0, consumed = 0;
    while (consumed < uses) {
      const bool can_fill = filled < uses && empty[Uses::stage(filled)].done(Uses::parity(filled) ^ 1);
      const bool can_consume = full[Uses::stage(consumed)].done(Uses::parity(consumed)) && consumed < said;
      if (full[Uses::stage(consumed)].done(Uses::parity(consumed)) && consumed >= said) return false;  // read before it was filled
      if (!can_fill && !can_consume) return false;
      if (can_fill && (!can_consume || random() % 2)) {
        if (filled - kStages >= consumed) return false;  // refilled before it was read
        ++filled;
        const int until = filled == uses ? uses : filled - lag;
        for (; said < until; ++said) ++full[Uses::stage(said)].completed;
      } else {
        // The stage before is given back once this one's products are queued; the last at the end.
        if (consumed > 0) ++empty[Uses::stage(consumed - 1)].completed;
        if (++consumed == uses) ++empty[Uses::stage(consumed - 1)].completed;
      }
    }
    return true;
  }
};

STORMCELL_TEST(GpuTensorCoreTest)
}  // namespace stormcell
#include "tensor_core_test.moc"
