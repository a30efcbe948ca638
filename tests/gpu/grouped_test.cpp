// Grouped products on the emulator against plain loops in double, and the tile map against brute force.
#include <random>
#include <set>

#include "gpu/grouped/gemv.h"
#include "gpu/grouped/plain.h"
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
using testing::emulate;
using testing::map_by_sorting;
using testing::random_offsets;
using testing::random_product;
using testing::ThreadOrder;

/// Empty when the map's tiles cover each row of each expert and each column block once, heaviest expert first.
std::string coverage(const std::vector<int32_t>& offsets, const RegimeLimits& limits, std::vector<int32_t>& map,
                     int32_t column_blocks) {
  std::set<std::pair<int32_t, int32_t>> covered;  // slot, column block
  for (int r = 0; r < gpu::kRegimes; ++r) {
    const auto regime = static_cast<Regime>(r);
    const gpu::TileList list = gpu::tile_list(map.data(), regime);
    int32_t rows_before = INT32_MAX;
    const int32_t most_rows = gpu::row_block(regime);
    for (int64_t t = 0; t < gpu::tiles_of(list, column_blocks); ++t) {
      const Tile tile = gpu::find_tile(list, offsets.data(), column_blocks, most_rows, t);
      const int32_t begin = offsets[static_cast<size_t>(tile.expert)],
                    end = offsets[static_cast<size_t>(tile.expert) + 1];
      if (gpu::regime_of(end - begin, limits) != regime) return "an expert in another regime's list";
      if (end - begin > rows_before) return "a heavier expert comes later";
      rows_before = end - begin;
      if (tile.rows < 1 || tile.rows > most_rows || tile.first < begin || tile.first + tile.rows > end)
        return "rows of another expert";
      if (tile.column_block < 0 || tile.column_block >= column_blocks) return "no such column block";
      for (int32_t s = tile.first; s < tile.first + tile.rows; ++s)
        if (!covered.insert({s, tile.column_block}).second) return "a row twice";
    }
  }
  return covered.size() == static_cast<size_t>(offsets.back()) * static_cast<size_t>(column_blocks)
             ? ""
             : "a row is missing";
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
      const RegimeLimits limits{static_cast<int32_t>(random() % 9), static_cast<int32_t>(random() % 65),
                                random() % 3 != 0};
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
      const RegimeLimits limits = i % 2 ? RegimeLimits{0, 0, true} : kTensor;
      const auto want = map_by_sorting(offsets, limits);
      std::vector<int32_t> got(gpu::kTileMapInts, -7);
      const gpu::TileMapArgs args{offsets.data(), static_cast<int32_t>(offsets.size()) - 1, limits, got.data()};
      QCOMPARE(emulate<gpu::TileMapKernel>(1, args, static_cast<ThreadOrder>(i % 3)), std::string());
      QVERIFY(got == want);
    }
    // By the block that routes too, whose threads hold several experts each where there are more than threads.
    for (const int32_t experts : {1, 256, 257, 600, 1024}) {
      const auto offsets = random_offsets(random, experts, 200);
      std::vector<int32_t> got(gpu::kTileMapInts, -7);
      const gpu::TileMapArgs args{offsets.data(), experts, kTensor, got.data()};
      QCOMPARE(emulate<gpu::TileMapBlock<256>>(1, args, ThreadOrder::shuffled), std::string());
      QVERIFY(got == map_by_sorting(offsets, kTensor));
    }
  }

  // A product is told how many rows an expert has at most; a map says when that was too few.
  void more_rows_than_a_product_was_told_of_are_found() {
    for (const std::vector<int32_t>& offsets : {std::vector<int32_t>{0, 3, 3, 12, 20}, std::vector<int32_t>{0, 0}}) {
      std::vector<int32_t> map(gpu::kTileMapInts, -7);
      const auto experts = static_cast<int32_t>(offsets.size()) - 1;
      QCOMPARE(emulate<gpu::TileMapKernel>(1, {offsets.data(), experts, kTensor, map.data()}), std::string());
      const int32_t rows = *gpu::most_rows_of(map.data());
      QCOMPARE(rows, experts > 1 ? 9 : 0);
      QVERIFY(gpu::check_most_rows(rows, rows).ok());
      const gpu::Status status = gpu::check_most_rows(rows, rows - 1);
      QVERIFY(status.code() == gpu::StatusCode::bad_input);
      QVERIFY(std::string(status.text()).find("has " + std::to_string(rows) + " rows and the call was for at most") !=
              std::string::npos);
    }
  }

  void regimes_follow_the_rows() {
    QVERIFY(gpu::regime_of(4, kTensor) == Regime::gemv && gpu::regime_of(5, kTensor) == Regime::swapped);
    QVERIFY(gpu::regime_of(64, kTensor) == Regime::swapped && gpu::regime_of(65, kTensor) == Regime::large);
    QVERIFY(gpu::regime_of(8, kAllGemv) == Regime::gemv && gpu::regime_of(9, kAllGemv) == Regime::plain);
    // The host's launch covers all that the device may find.
    for (const RegimeLimits& limits :
         {kAllPlain, kAllGemv, kTensor, RegimeLimits{0, 64, true}, RegimeLimits{8, 0, true}})
      for (int64_t most : {1, 4, 5, 8, 9, 64, 65, 1000})
        for (int32_t rows = 1; rows <= most; ++rows)
          QVERIFY(gpu::may_occur(gpu::regime_of(rows, limits), limits, most));
  }

  void limits_by_shape() {
    const gpu::ProductShape bf16[] = {{gpu::Format::bf16, 3072, 768}, {gpu::Format::bf16, 768, 3072}},
                            odd[] = {{gpu::Format::bf16, 3072, 769}}, f32[] = {{gpu::Format::f32, 64, 64}};
    const gpu::RegimeLimits few = gpu::choose_limits(true, bf16, 2, {8, 1.0}),
                            many = gpu::choose_limits(true, bf16, 2, {64, 1.0});
    QVERIFY(few.tensor_cores && few.gemv_rows == 8 && many.gemv_rows == 0 && many.swapped_rows == 64);
    QCOMPARE(gpu::choose_limits(true, bf16, 2, {8, 1.1}).gemv_rows, 0);
    const auto names = [](const RegimeLimits& limits, int64_t most_rows) {
      std::string all;
      for (const gpu::Launch launch : gpu::launches(limits, most_rows)) all += std::string(gpu::to_text(launch)) + " ";
      return all;
    };
    QCOMPARE(names(few, 8), std::string("gemv "));
    QCOMPARE(names(many, 64), std::string("swapped "));
    QCOMPARE(names(many, 65), std::string("joined "));
    QCOMPARE(names(many, 0), std::string());
    QCOMPARE(names({4, 64, true}, 100), std::string("joined gemv "));
    QCOMPARE(names(kAllGemv, 9), std::string("plain gemv "));
    QVERIFY(!gpu::choose_limits(false, bf16, 2, {99, 1.0}).tensor_cores &&
            gpu::choose_limits(false, bf16, 2, {99, 1.0}).gemv_rows == 8);
    QVERIFY(!gpu::choose_limits(true, odd, 1, {1, 1.0}).tensor_cores &&
            gpu::choose_limits(true, odd, 1, {1, 1.0}).gemv_rows == 0);
    QVERIFY(!gpu::choose_limits(true, f32, 1, {1, 1.0}).tensor_cores);
  }

  // A launch more only for a regime that the host cannot exclude, and one for both of the tensor cores.
  void launches_of_a_product() {
    const gpu::ProductShape bf16[] = {{gpu::Format::bf16, 3072, 768}};
    for (int64_t most_rows = 0; most_rows <= 200; ++most_rows)
      QCOMPARE(gpu::launches(gpu::choose_limits(true, bf16, 1, {most_rows, 0}), most_rows).count,
               most_rows > 0 ? 1 : 0);
    QCOMPARE(gpu::launches({4, 64, true}, 100).count, 2);  // gemv by itself
    QCOMPARE(gpu::launches({0, 0, true}, 100).count, 1);
    QCOMPARE(gpu::launches({8, 8, true}, 100).count, 2);
  }

  void plain_product() {
    std::mt19937 random(3);
    for (int i = 0; i < (testing::kSlowEmulator ? 3 : 16); ++i) {
      const int32_t n = 1 + static_cast<int32_t>(random() % 90), k = 1 + static_cast<int32_t>(random() % 50);
      const auto run = [&]<class T, int kPanels>() {
        auto p = random_product<T>(random, kPanels, 80, n, k, kAllPlain);
        const std::string wrong = emulate<gpu::PlainKernel<T, kPanels>>(3, p.args, static_cast<ThreadOrder>(i % 3));
        return wrong.empty() ? difference(p, kAllPlain, {Regime::plain}) : wrong;
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
        return wrong.empty() ? difference(p, kAllGemv, {Regime::gemv}) : wrong;
      };
      QCOMPARE((run.operator()<float, 1>()), std::string());
      QCOMPARE((run.operator()<float, 2>()), std::string());
      QCOMPARE((run.operator()<Bf16, 1>()), std::string());
      QCOMPARE((run.operator()<Bf16, 2>()), std::string());
    }
  }

  void refusals_name_what_is_wrong() {
    alignas(16) static float memory[64];
    static int32_t map[gpu::kTileMapInts], offsets[3];
    gpu::GroupedCall call;
    call.offsets = offsets, call.experts = 2, call.most_slots = call.most_rows = 4, call.n = 8, call.k = 8;
    call.x = memory, call.w = memory, call.y = memory;
    QVERIFY(gpu::check_grouped(call, {map, kAllGemv}).ok());
    const auto refused = [&](auto change, const RegimeLimits& limits, const char* word) {
      gpu::GroupedCall bad = call;
      change(bad);
      const gpu::Status status = gpu::check_grouped(bad, {map, limits});
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
    for (const int64_t many : {int64_t{-1}, int64_t{INT32_MAX} - 126, int64_t{1} << 31})
      QVERIFY(refused([&](auto& c) { c.most_slots = many; }, kAllGemv, "slots, allowed are 0 to 2147483520"));
    QVERIFY(!refused([](auto& c) { c.most_slots = INT32_MAX - 127; }, kAllGemv, ""));
    for (const RegimeLimits& limits : {RegimeLimits{9, 0, false}, RegimeLimits{-1, 0, false},
                                       RegimeLimits{0, 65, false}, RegimeLimits{0, -1, false}})
      QVERIFY(refused([](auto&) {}, limits, "regimes of"));
    alignas(4) static char bytes[8];
    QVERIFY(refused([](auto& c) { c.gather = reinterpret_cast<const int32_t*>(bytes + 1); }, kAllGemv, "gather ("));
    QVERIFY(refused([](auto& c) { c.scatter = reinterpret_cast<const int32_t*>(bytes + 1); }, kAllGemv, "scatter ("));
    QVERIFY(refused([](auto& c) { c.weight = reinterpret_cast<const float*>(bytes + 1); }, kAllGemv, "weight ("));
    QVERIFY(std::string(gpu::check_grouped(call, {nullptr, kAllGemv}).text()).find("the tile map is null") !=
            std::string::npos);
  }
};

STORMCELL_TEST(GpuGroupedTest)
}  // namespace stormcell
#include "grouped_test.moc"
