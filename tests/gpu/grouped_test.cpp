// Grouped products on the emulator against plain loops in double, the tile map against brute force, and what is known of the tensor cores'
// layouts without one.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "gpu/grouped/gemv.h"
#include "gpu/grouped/grouped.h"
#include "gpu/grouped/plain.h"
#include "gpu/grouped/tensor_store.h"
#include "tests/gpu/emulator.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using gpu::Activation;
using gpu::Bf16;
using gpu::Regime;
using gpu::RegimeLimits;
using gpu::Tile;
using testing::emulate;
using testing::HostExecution;
using testing::run_grid;
using testing::ThreadOrder;

std::vector<int32_t> random_offsets(std::mt19937& random, int32_t experts, int32_t most_rows) {
  std::vector<int32_t> offsets = {0};
  for (int32_t e = 0; e < experts; ++e) {
    const auto how = random() % 4;
    const int32_t rows =
        how == 0 ? 0 : static_cast<int32_t>(random() % static_cast<uint32_t>(how == 1 ? std::min(most_rows, 10) + 1 : most_rows + 1));
    offsets.push_back(offsets.back() + rows);
  }
  return offsets;
}

/// The tile map without a kernel: sorted lists.
std::vector<int32_t> map_by_sorting(const std::vector<int32_t>& offsets, const RegimeLimits& limits) {
  std::vector<int32_t> map(gpu::kTileMapInts, -7);
  for (int r = 0; r < gpu::kRegimes; ++r) {
    const auto regime = static_cast<Regime>(r);
    std::vector<int32_t> experts;
    const auto rows = [&](int32_t e) { return offsets[static_cast<size_t>(e) + 1] - offsets[static_cast<size_t>(e)]; };
    for (int32_t e = 0; e + 1 < static_cast<int32_t>(offsets.size()); ++e)
      if (rows(e) > 0 && gpu::regime_of(rows(e), limits) == regime) experts.push_back(e);
    std::stable_sort(experts.begin(), experts.end(), [&](int32_t a, int32_t b) { return rows(a) > rows(b); });
    const gpu::TileList list = gpu::tile_list(map.data(), regime);
    *list.count = static_cast<int32_t>(experts.size());
    list.begin[0] = 0;
    for (size_t i = 0; i < experts.size(); ++i) {
      list.expert[i] = experts[i];
      list.begin[i + 1] = list.begin[i] + (rows(experts[i]) + gpu::row_block(regime) - 1) / gpu::row_block(regime);
    }
  }
  return map;
}

/// Empty when the map's tiles cover each row of each expert and each column block once, heaviest expert first.
std::string coverage(const std::vector<int32_t>& offsets, const RegimeLimits& limits, std::vector<int32_t>& map, int32_t column_blocks) {
  std::set<std::pair<int32_t, int32_t>> covered;  // slot, column block
  for (int r = 0; r < gpu::kRegimes; ++r) {
    const auto regime = static_cast<Regime>(r);
    const gpu::TileList list = gpu::tile_list(map.data(), regime);
    int32_t rows_before = INT32_MAX;
    for (int64_t t = 0; t < gpu::tiles_of(list, column_blocks); ++t) {
      const Tile tile = gpu::find_tile(list, offsets.data(), column_blocks, gpu::row_block(regime), t);
      const int32_t begin = offsets[static_cast<size_t>(tile.expert)], end = offsets[static_cast<size_t>(tile.expert) + 1];
      if (gpu::regime_of(end - begin, limits) != regime) return "an expert in another regime's list";
      if (end - begin > rows_before) return "a heavier expert comes later";
      rows_before = end - begin;
      if (tile.rows < 1 || tile.rows > gpu::row_block(regime) || tile.first < begin || tile.first + tile.rows > end)
        return "rows of another expert";
      if (tile.column_block < 0 || tile.column_block >= column_blocks) return "no such column block";
      for (int32_t s = tile.first; s < tile.first + tile.rows; ++s)
        if (!covered.insert({s, tile.column_block}).second) return "a row twice";
    }
  }
  return covered.size() == static_cast<size_t>(offsets.back()) * static_cast<size_t>(column_blocks) ? "" : "a row is missing";
}

template <class T>
struct Product {
  std::vector<int32_t> offsets, map, gather, scatter;
  std::vector<T> x, w, y;
  std::vector<float> bias, weight;
  gpu::ProductArgs<T> args;
  int32_t experts = 0, panels = 1, x_rows = 0, y_rows = 0;
};

template <class T>
Product<T> random_product(std::mt19937& random, int32_t panels, int32_t most_rows, int32_t n, int32_t k, const RegimeLimits& limits) {
  Product<T> p;
  std::normal_distribution<float> normal;
  const auto fill = [&](auto& v, size_t size, float scale) {
    v.resize(size);
    for (auto& e : v) e = gpu::number<std::decay_t<decltype(e)>>(normal(random) * scale);
  };
  p.experts = 1 + static_cast<int32_t>(random() % 6);
  p.panels = panels;
  p.offsets = random_offsets(random, p.experts, most_rows);
  p.map = map_by_sorting(p.offsets, limits);
  const int32_t rows = p.offsets.back();
  p.x_rows = p.y_rows = rows;
  auto& a = p.args;
  a.n = n, a.k = k;
  if (random() % 2) {
    p.x_rows = rows / 2 + 1;
    for (int32_t s = 0; s < rows; ++s) p.gather.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(p.x_rows)));
    a.gather = p.gather.data();
  }
  if (random() % 2) {
    p.y_rows = rows + 3;
    for (int32_t s = 0; s < p.y_rows; ++s) p.scatter.push_back(s);
    std::shuffle(p.scatter.begin(), p.scatter.end(), random);
    a.scatter = p.scatter.data();
  }
  fill(p.x, static_cast<size_t>(p.x_rows) * static_cast<size_t>(k), 1);
  fill(p.w, static_cast<size_t>(p.experts) * static_cast<size_t>(panels * n) * static_cast<size_t>(k),
       1 / std::sqrt(static_cast<float>(k)));
  if (random() % 2) fill(p.bias, static_cast<size_t>(p.experts * panels * n), 1), a.bias = p.bias.data();
  if (random() % 2) fill(p.weight, static_cast<size_t>(rows), 1), a.weight = p.weight.data();
  p.y.assign(static_cast<size_t>(p.y_rows) * static_cast<size_t>(n) + 1, gpu::number<T>(-12345.0f));
  a.offsets = p.offsets.data(), a.map = p.map.data();
  a.x = p.x.data(), a.w = p.w.data(), a.y = p.y.data();
  a.activation = static_cast<Activation>(random() % 5);
  return p;
}

double exact_activation(Activation kind, double v) {
  switch (kind) {
    case Activation::relu:
      return std::max(v, 0.0);
    case Activation::gelu_erf:
      return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    case Activation::silu:
      return v / (1 + std::exp(-v));
    default:
      return v;
  }
}

/// Empty when y is right within the format, and nothing else was written.
template <class T>
std::string difference(const Product<T>& p, const RegimeLimits& limits, Regime regime) {
  const auto& a = p.args;
  std::vector<char> written(p.y.size());
  const double tolerance = sizeof(T) == 2 ? 1e-2 : 2e-5;
  for (int32_t e = 0; e < p.experts; ++e) {
    const int32_t rows = p.offsets[static_cast<size_t>(e) + 1] - p.offsets[static_cast<size_t>(e)];
    if (rows == 0 || gpu::regime_of(rows, limits) != regime) continue;
    for (int32_t s = p.offsets[static_cast<size_t>(e)]; s < p.offsets[static_cast<size_t>(e) + 1]; ++s)
      for (int32_t c = 0; c < a.n; ++c) {
        double panel[2] = {};
        for (int32_t q = 0; q < p.panels; ++q) {
          const int64_t row = (static_cast<int64_t>(e) * p.panels + q) * a.n + c;
          for (int32_t d = 0; d < a.k; ++d)
            panel[q] +=
                static_cast<double>(gpu::to_float(a.x[a.source_row(s) * a.k + d])) * static_cast<double>(gpu::to_float(a.w[row * a.k + d]));
          if (a.bias) panel[q] += static_cast<double>(a.bias[row]);
        }
        double want = exact_activation(a.activation, panel[0]) * (p.panels == 2 ? panel[1] : 1.0);
        if (a.weight) want *= static_cast<double>(a.weight[s]);
        const auto at = static_cast<size_t>(a.target_row(s) * a.n + c);
        written[at] = 1;
        const auto got = static_cast<double>(gpu::to_float(p.y[at]));
        if (!(std::fabs(got - want) <= tolerance * std::max(1.0, std::fabs(want))))
          return "slot " + std::to_string(s) + ", column " + std::to_string(c) + ": " + std::to_string(got) + ", not " +
                 std::to_string(want);
      }
  }
  const T untouched = gpu::number<T>(-12345.0f);
  for (size_t i = 0; i < p.y.size(); ++i)
    if (!written[i] && std::memcmp(&p.y[i], &untouched, sizeof(T)) != 0) return "number " + std::to_string(i) + " was written";
  return {};
}

// --- the tensor-core kernels without tensor cores: their copies, descriptors and stores, and what wgmma makes of them -------------------

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

constexpr RegimeLimits kAllPlain{0, 0, false}, kAllGemv{8, 0, false}, kTensor{4, 64, true};
}  // namespace

class GpuGroupedTest : public QObject {
  Q_OBJECT
 private slots:
  void tile_maps_cover_every_row_once() {
    std::mt19937 random(1);
    for (int i = 0; i < 10000; ++i) {
      const int32_t experts = 1 + static_cast<int32_t>(random() % (i % 50 == 0 ? 300 : 12));
      const RegimeLimits limits{static_cast<int32_t>(random() % 9), static_cast<int32_t>(random() % 65), random() % 3 != 0};
      const auto offsets = random_offsets(random, experts, i % 50 == 0 ? 20 : 400);
      auto map = map_by_sorting(offsets, limits);
      const std::string wrong = coverage(offsets, limits, map, 1 + static_cast<int32_t>(random() % 3));
      QVERIFY2(wrong.empty(), qPrintable(QString("case %1, %2 experts: %3").arg(i).arg(experts).arg(wrong.c_str())));
    }
  }
  void the_kernel_makes_the_same_map() {
    std::mt19937 random(2);
    for (int i = 0; i < (testing::kSlowEmulator ? 6 : 60); ++i) {
      const int32_t experts = i == 0 ? 1 : i == 1 ? 1024 : 1 + static_cast<int32_t>(random() % 200);
      const auto offsets = i == 2 ? std::vector<int32_t>(9, 0) : random_offsets(random, experts, 300);
      const auto want = map_by_sorting(offsets, kTensor);
      std::vector<int32_t> got(gpu::kTileMapInts, -7);
      const gpu::TileMapArgs args{offsets.data(), static_cast<int32_t>(offsets.size()) - 1, kTensor, got.data()};
      QCOMPARE(emulate<gpu::TileMapKernel>(1, args, static_cast<ThreadOrder>(i % 3)), std::string());
      QVERIFY(got == want);
    }
  }
  void regimes_follow_the_rows() {
    QVERIFY(gpu::regime_of(4, kTensor) == Regime::gemv && gpu::regime_of(5, kTensor) == Regime::swapped);
    QVERIFY(gpu::regime_of(64, kTensor) == Regime::swapped && gpu::regime_of(65, kTensor) == Regime::large);
    QVERIFY(gpu::regime_of(8, kAllGemv) == Regime::gemv && gpu::regime_of(9, kAllGemv) == Regime::plain);
    // What the host launches covers what the device may find.
    for (const RegimeLimits& limits : {kAllPlain, kAllGemv, kTensor, RegimeLimits{0, 64, true}, RegimeLimits{8, 0, true}})
      for (int64_t most : {1, 4, 5, 8, 9, 64, 65, 1000})
        for (int32_t rows = 1; rows <= most; ++rows) QVERIFY(gpu::may_occur(gpu::regime_of(rows, limits), limits, most));
  }
  void limits_by_shape() {
    const gpu::ProductShape bf16[] = {{gpu::Format::bf16, 3072, 768}, {gpu::Format::bf16, 768, 3072}},
                            odd[] = {{gpu::Format::bf16, 3072, 769}}, f32[] = {{gpu::Format::f32, 64, 64}};
    const gpu::RegimeLimits few = gpu::choose_limits(true, bf16, 2, 4), many = gpu::choose_limits(true, bf16, 2, 64);
    QVERIFY(few.tensor_cores && few.gemv_rows == 4 && many.gemv_rows == 0 && many.swapped_rows == 64);
    const auto launches = [](const gpu::RegimeLimits& limits, int64_t most_rows) {
      int n = 0;
      for (int r = 0; r < gpu::kRegimes; ++r) n += gpu::may_occur(static_cast<Regime>(r), limits, most_rows);
      return n;
    };
    QVERIFY(launches(few, 4) == 1 && launches(many, 64) == 1 && launches(many, 65) == 2 && launches(many, 0) == 0);
    QVERIFY(!gpu::choose_limits(false, bf16, 2, 99).tensor_cores && gpu::choose_limits(false, bf16, 2, 99).gemv_rows == 8);
    QVERIFY(!gpu::choose_limits(true, odd, 1, 1).tensor_cores && gpu::choose_limits(true, odd, 1, 1).gemv_rows == 0);
    QVERIFY(!gpu::choose_limits(true, f32, 1, 1).tensor_cores);
  }

  void plain_product() {
    std::mt19937 random(3);
    for (int i = 0; i < (testing::kSlowEmulator ? 3 : 16); ++i) {
      const int32_t n = 1 + static_cast<int32_t>(random() % 90), k = 1 + static_cast<int32_t>(random() % 50);
      const auto run = [&]<class T, int kPanels>() {
        auto p = random_product<T>(random, kPanels, 80, n, k, kAllPlain);
        const std::string wrong = emulate<gpu::PlainKernel<T, kPanels>>(3, p.args, static_cast<ThreadOrder>(i % 3));
        return wrong.empty() ? difference(p, kAllPlain, Regime::plain) : wrong;
      };
      QCOMPARE((run.operator()<float, 1>()), std::string());
      QCOMPARE((run.operator()<float, 2>()), std::string());
      QCOMPARE((run.operator()<Bf16, 1>()), std::string());
      QCOMPARE((run.operator()<Bf16, 2>()), std::string());
    }
  }
  void gemv_product() {
    std::mt19937 random(4);
    for (int i = 0; i < (testing::kSlowEmulator ? 6 : 30); ++i) {
      const int32_t n = 1 + static_cast<int32_t>(random() % 30), k = 8 * (1 + static_cast<int32_t>(random() % 80));
      const auto run = [&]<class T, int kPanels>() {
        auto p = random_product<T>(random, kPanels, 1 + i % 12, n, k, kAllGemv);
        const std::string wrong = emulate<gpu::GemvKernel<T, kPanels>>(2, p.args, static_cast<ThreadOrder>(i % 3));
        return wrong.empty() ? difference(p, kAllGemv, Regime::gemv) : wrong;
      };
      QCOMPARE((run.operator()<float, 1>()), std::string());
      QCOMPARE((run.operator()<float, 2>()), std::string());
      QCOMPARE((run.operator()<Bf16, 1>()), std::string());
      QCOMPARE((run.operator()<Bf16, 2>()), std::string());
    }
  }

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

  void refusals_name_what_is_wrong() {
    alignas(16) static float memory[64];
    static int32_t map[gpu::kTileMapInts], offsets[3];
    gpu::GroupedCall call;
    call.offsets = offsets, call.experts = 2, call.most_slots = call.most_rows = 4, call.n = 8, call.k = 8;
    call.x = memory, call.w = memory, call.y = memory;
    QVERIFY(gpu::check_grouped(call, kAllGemv, map).ok());
    const auto refused = [&](auto change, const RegimeLimits& limits, const char* word) {
      gpu::GroupedCall bad = call;
      change(bad);
      const gpu::Status status = gpu::check_grouped(bad, limits, map);
      return !status.ok() && std::string(status.text()).find(word) != std::string::npos;
    };
    QVERIFY(refused([](auto& c) { c.experts = 1025; }, kAllPlain, "1025 experts"));
    QVERIFY(refused([](auto& c) { c.k = 0; }, kAllPlain, "k 0"));
    QVERIFY(refused([](auto& c) { c.k = 7; }, kAllGemv, "multiple of 16"));
    QVERIFY(!refused([](auto& c) { c.k = 7; }, kAllPlain, ""));
    QVERIFY(refused([](auto&) {}, kTensor, "bf16"));
    QVERIFY(refused([](auto& c) { c.scatter = offsets, c.fan_out = 2; }, kAllPlain, "fan-out"));
    QVERIFY(refused([](auto& c) { c.x = memory + 1; }, kAllGemv, "x ("));
    QVERIFY(refused([](auto& c) { c.w = nullptr; }, kAllGemv, "w is null"));
    QVERIFY(refused([](auto& c) { c.most_rows = 5; }, kAllGemv, "up to 5 rows"));
    QVERIFY(refused([](auto& c) { c.most_slots = int64_t{1} << 31; }, kAllGemv, "beyond 2^31"));
    QVERIFY(refused([](auto&) {}, RegimeLimits{9, 0, false}, "regimes of"));
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

STORMCELL_TEST(GpuGroupedTest)
}  // namespace stormcell
#include "grouped_test.moc"
