// The lower bounds of device_check, tried on kernels of others: a published time below its bound would refute the
// bound.
#include "tests/gpu/device_check/bounds.h"
#include "tests/testing/testing.h"

namespace stormcell::bounds_test {
namespace {
using device_check::bounds_of;
using device_check::CardRates;
using device_check::h200_rates;
using device_check::TiledProduct;

constexpr gpu::RegimeLimits kTensor{0, 64, true};
}  // namespace

class GpuBoundsTest : public QObject {
  Q_OBJECT
 private slots:
  void published_times_are_beyond_what_bounds_them() {
    // DeepGEMM's README at a6d97a1, H800 (H100's multiprocessors and memory), numbers of one byte: twice the rate, half
    // the bytes.
    const auto flop = [](double rows, double n, double k) { return 2 * rows * n * k; };
    const CardRates h100, h200 = h200_rates();
    const double rate = 2 * h100.tensor_flop * h100.multiprocessors * h100.clock;
    const double contiguous = flop(4 * 8192, 4096, 7168);
    QVERIFY(contiguous / 1297e12 > contiguous / rate);
    const double masked = flop(4 * 256, 4096, 7168);
    QVERIFY(masked / 932e12 > masked / rate);
    QVERIFY(masked / 932e12 > (4.0 * 4096 * 7168 + 4.0 * 256 * (7168 + 2 * 4096)) / h100.dram_bytes);
    // The same through the bounds: two numbers of one byte are one of two bytes in bytes and in clocks of the tensor
    // pipe.
    TiledProduct p;
    p.n = 4096, p.k = 7168 / 2, p.rows_a_tile = 128, p.columns = 128, p.consumers = 2;
    for (const auto& [rows, seconds] : {std::pair(8192, contiguous / 1297e12), std::pair(256, masked / 932e12)}) {
      p.rows.assign(4, rows);
      const auto b = bounds_of(p, {}, h100);
      QVERIFY(seconds > b.tensor && seconds > b.shared && seconds > b.dram && seconds > b.start);
      QCOMPARE(b.tensor, flop(4 * rows, 4096, 7168) / rate);
    }
    // Three matrices of 7168 x 2048 bytes an expert, 256 experts over 8 and 64 ranks, each expert met (aiconfigurator,
    // decode).
    const auto weights = [](int ranks) { return 256.0 / ranks * 3 * 7168 * 2048; };
    QVERIFY(383e-6 > weights(8) / h200.dram_bytes && 66e-6 > weights(64) / h200.dram_bytes);
    QVERIFY(530e-6 > weights(8) / h100.dram_bytes && 85e-6 > weights(64) / h100.dram_bytes);
  }

  void counts_of_one_tile() {
    // 128 x 256, 64 deep: 1,024 clocks of the tensor pipe; written 48 KiB, read 2 x 32 + 16 KiB: 128 KiB at 128 bytes a
    // clock.
    TiledProduct p;
    p.rows = {128}, p.n = 256, p.k = 64, p.rows_a_tile = 128, p.columns = 256, p.consumers = 2;
    CardRates rates;
    rates.clock = 1;
    auto b = bounds_of(p, {.produce = 100, .consume = 10, .store = 12}, rates);
    QCOMPARE(b.tensor, 1024.0);
    QCOMPARE(b.shared, 1024.0);
    QCOMPARE(b.l2, 48.0 * 1024 / 5120);
    QCOMPARE(b.issue, (100 + 80 + 64 * 12 * 8) / 4.0);
    QCOMPARE(b.start, rates.launch + 3 * 200 + 400);
    // Two products side by side read the rows twice: 144 KiB.
    p.row_reads = 2;
    QCOMPARE(bounds_of(p, {}, rates).shared, 1152.0);
  }

  void the_greatest_tile_bounds_whoever_has_it() {
    // One tile of 128 rows, 3,072 deep, beside many of few rows: 48 stages of 144 KiB at 128 bytes a clock, however
    // many blocks there are.
    TiledProduct large, swapped;
    large.rows = {128}, large.n = 256, large.k = 3072, large.rows_a_tile = 128, large.columns = 256,
    large.consumers = 2;
    large.row_reads = 2;
    swapped.rows.assign(8, 1), swapped.n = 64, swapped.k = 64, swapped.rows_a_tile = 64, swapped.columns = 64,
                               swapped.swapped = true;
    CardRates rates;
    rates.clock = 1;
    auto both = device_check::demand_of(swapped, {});
    both += device_check::demand_of(large, {.produce = 540});
    const auto b = bounds_of(both, rates);
    QCOMPARE(b.shared, 48 * 1152.0);
    QCOMPARE(b.tensor, 48 * 1024.0);
    QCOMPARE(b.issue, 48 * 540 / 4.0);
  }

  void rows_that_several_slots_share_come_once() {
    TiledProduct p;
    p.rows = {64, 64}, p.n = 64, p.k = 128, p.rows_a_tile = 64, p.columns = 64, p.swapped = true, p.slots_a_row = 8;
    QCOMPARE(device_check::demand_of(p, {}).dram, 2 * (64.0 * 128 * 2 + 64 * (128 / 8 + 64) * 2));
    QCOMPARE(device_check::dependent_loads(1), 3);
    QCOMPARE(device_check::dependent_loads(32), 3);
    QCOMPARE(device_check::dependent_loads(128), 5);
  }

  void few_rows_are_bound_by_their_weights() {
    TiledProduct p;
    p.rows.assign(64, 1);
    p.n = 3072, p.k = 768, p.rows_a_tile = gpu::row_block(gpu::Regime::swapped), p.columns = 64, p.swapped = true;
    const auto b = bounds_of(p, {.produce = 60, .consume = 20, .store = 12}, h200_rates());
    QCOMPARE(std::string(b.what()), std::string("DRAM"));
    QVERIFY(b.seconds() > 302e6 / 4.8e12 && b.seconds() < 303e6 / 4.8e12);
    p.rows.assign(64, 0);
    QCOMPARE(std::string(bounds_of(p, {}, h200_rates()).what()), std::string("start"));
    QVERIFY(gpu::regime_of(1, kTensor) == gpu::Regime::swapped);
  }
};

STORMCELL_TEST(GpuBoundsTest)
}  // namespace stormcell::bounds_test
#include "bounds_test.moc"
