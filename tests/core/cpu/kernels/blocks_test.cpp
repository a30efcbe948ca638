// Kernels of weights in blocks, in each instruction set: elements computed by hand, products as double loops have them,
// and the same bits whatever the number of rows.
#include <QTest>

#include "core/base/number_format.h"
#include "core/cpu/kernels/dot.h"
#include "core/cpu/kernels/embedding.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/grouped_linear.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/blocks.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
namespace {

using stormcell::testing::drawn_blocks;
using stormcell::testing::kBlockFormats;
using stormcell::testing::known_blocks;
using stormcell::testing::Scales;

/// Rows of k elements at an odd address, as rows of a file may lie.
class DrawnRows {
 public:
  DrawnRows(DType format, int64_t rows, int64_t k, unsigned seed)
      : bytes_(static_cast<size_t>(rows * row_bytes(format, k)) + 1) {
    stormcell::testing::Drawn<std::mt19937_64> engine(seed);
    const std::vector<std::byte> drawn = drawn_blocks([&] { return engine(); }, format, rows * k, Scales::alike);
    std::memcpy(bytes_.data() + 1, drawn.data(), drawn.size());
  }
  const std::byte* data() const { return bytes_.data() + 1; }

 private:
  Scratch bytes_;
};

/// The product of some rows by one matrix, with a bias.
Floats product_of(const DrawnRows& weights, DType format, int64_t n, int64_t k, const float* x, int64_t rows,
                  const Floats& bias, int threads) {
  const PackedWeight weight{weights.data(), n, k, format};
  Epilogue epilogue;
  epilogue.bias = bias.data();
  ThreadTeam team(threads);
  Scratch scratch(linear_scratch_bytes(rows, k, format, threads));
  Floats y(static_cast<size_t>(rows * n), -7.0f);
  linear(team, x, k, rows, weight, epilogue, y.data(), n, scratch.data());
  if (!y.intact() || !scratch.intact()) qFatal("wrote outside its output");
  return y;
}

}  // namespace

class BlocksTest : public QObject {
  Q_OBJECT
 private slots:
  void each_format_of_blocks_has_its_kernels() {
    for (const NumberFormat& format : number_formats())
      QVERIFY2(format.is_blocks() == (block_kernels(format.type) != nullptr), format.name.data());
    QVERIFY(!block_kernels(DType::f32) && !block_kernels(DType::i8));
  }

  void elements_are_those_computed_by_hand() {
    for_each_isa([&](Isa isa) {
      for (const auto& known : known_blocks()) {
        Floats values(2 * known.elements.size(), -7.0f);
        std::vector<std::byte> two = known.bytes;
        two.insert(two.end(), known.bytes.begin(), known.bytes.end());
        block_kernels(known.format)->expand(two.data(), static_cast<int64_t>(values.size()), values.data());
        QVERIFY(values.intact());
        for (size_t i = 0; i < values.size(); ++i)
          QVERIFY2(values[i] == known.elements[i % known.elements.size()],
                   qPrintable(QString("%1 %2: element %3 is %4")
                                  .arg(to_text(isa).data(), to_text(known.format).data())
                                  .arg(i)
                                  .arg(double{values[i]})));
      }
    });
  }

  void a_scale_that_is_not_finite_is_not_hidden() {
    for_each_isa([&](Isa) {
      for (const DType type : kBlockFormats) {
        const NumberFormat& format = format_of(type);
        stormcell::testing::Drawn<std::mt19937_64> engine(3);
        for (const uint8_t top : {uint8_t{0xff}, uint8_t{0x7c}}) {
          if (format.scale_bytes() == 1 && top != 0xff) continue;  // that is a number there
          std::vector<std::byte> block =
              drawn_blocks([&] { return engine(); }, type, format.block_elements, Scales::alike);
          for (int32_t byte = 0; byte < format.scale_bytes(); ++byte)
            block[static_cast<size_t>(format.scales_at + byte)] =
                static_cast<std::byte>(byte + 1 == format.scale_bytes() ? top
                                       : top == 0xff                    ? 0xff
                                                                        : 0);
          Floats values(static_cast<size_t>(format.block_elements));
          block_kernels(type)->expand(block.data(), format.block_elements, values.data());
          for (size_t i = 0; i < values.size(); ++i)
            QVERIFY2(!std::isfinite(values[i]) || (top == 0x7c && values[i] == 0), format.name.data());
        }
      }
    });
  }

  void products_are_those_of_double_loops_data() {
    QTest::addColumn<int>("number");
    for (size_t i = 0; i < kBlockFormats.size(); ++i)
      QTest::newRow(to_text(kBlockFormats[i]).data()) << static_cast<int>(i);
  }
  void products_are_those_of_double_loops() {
    QFETCH(const int, number);
    const DType format = kBlockFormats[static_cast<size_t>(number)];
    const int64_t block = format_of(format).block_elements;
    for_each_isa([&](Isa isa) {
      for (const auto& [n, k] :
           {std::pair<int64_t, int64_t>{1, block}, {3, 3 * block}, {64, 256}, {65, 512}, {130, 1280}}) {
        constexpr int64_t kRows = 100;
        const DrawnRows weights(format, n, k, static_cast<unsigned>(n));
        const Floats x = random_floats(static_cast<size_t>(kRows * k), 7),
                     bias = random_floats(static_cast<size_t>(n), 8);
        Floats w(static_cast<size_t>(n * k));
        block_kernels(format)->expand(weights.data(), n * k, w.data());
        std::vector<double> expected, tolerance;
        for (int64_t r = 0; r < kRows; ++r)
          for (int64_t c = 0; c < n; ++c) {
            double sum = bias[static_cast<size_t>(c)], sizes = std::fabs(sum);
            for (int64_t i = 0; i < k; ++i) {
              const double term = double{x[static_cast<size_t>(r * k + i)]} * double{w[static_cast<size_t>(c * k + i)]};
              sum += term, sizes += std::fabs(term);
            }
            // A lane rounds a sum of k / 4 terms at most.
            expected.push_back(sum), tolerance.push_back(kEpsilon * (static_cast<double>(k) / 4 + 16) * sizes);
          }
        const Floats all = product_of(weights, format, n, k, x.data(), kRows, bias, 1);
        const QString where = QString("%1 n %2 k %3").arg(to_text(isa).data()).arg(n).arg(k);
        const QString error = worst(all.data(), expected, tolerance, where);
        QVERIFY2(error.isEmpty(), qPrintable(error));
        // Few rows go another way: the same bits, and on any number of threads.
        for (const int64_t rows : {1, 2, 3, 4, 5, 7, 13, 97})
          for (const int threads : {1, 3}) {
            const Floats some = product_of(weights, format, n, k, x.data(), rows, bias, threads);
            QVERIFY2(std::memcmp(some.data(), all.data(), some.size() * sizeof(float)) == 0,
                     qPrintable(QString("%1: %2 rows have other bits").arg(where).arg(rows)));
          }
        // The plain product is another sum of the same terms.
        const float plain = find_kernels(format)->dot(x.data(), weights.data(), k);
        QVERIFY(std::fabs(double{plain} + double{bias[0]} - expected[0]) <= 4 * tolerance[0]);
      }
    });
  }

  void branches_with_weights_in_blocks_give_the_bits_of_one_product_each() {
    constexpr int32_t kOffsets[] = {0, 0, 1, 4, 30, 137}, kBranches = 5, kCells = 40;
    constexpr int64_t kN = 70, kK = 512;
    std::vector<int32_t> row_of_slot;
    for (int32_t s = 0; s < kOffsets[kBranches]; ++s) row_of_slot.push_back(s * 31 % kCells);
    for_each_isa([&](Isa isa) {
      for (const DType format : kBlockFormats) {
        const Floats x = random_floats(static_cast<size_t>(kCells * kK), 50), bias(static_cast<size_t>(kN));
        std::vector<DrawnRows> held;
        std::vector<PackedWeight> packed;
        for (int32_t b = 0; b < kBranches; ++b) held.emplace_back(format, kN, kK, static_cast<unsigned>(b));
        for (const DrawnRows& rows : held) packed.push_back({rows.data(), kN, kK, format});
        const PackedWeight* weights[kBranches];
        for (size_t b = 0; b < kBranches; ++b) weights[b] = b == 2 ? nullptr : &packed[b];
        GroupedRows rows;
        rows.x = x.data(), rows.ldx = kK, rows.row_of_slot = row_of_slot.data(), rows.offsets = kOffsets;
        rows.branches = kBranches, rows.weights = weights;
        ThreadTeam team(2);
        Floats y(static_cast<size_t>(kOffsets[kBranches] * kN), -7.0f);
        Scratch scratch(grouped_linear_scratch_bytes(kOffsets[kBranches], kK, format, 2));
        grouped_linear(team, rows, {}, y.data(), kN, scratch.data());
        QVERIFY(y.intact() && scratch.intact());
        for (int32_t b = 0; b < kBranches; ++b)
          for (int32_t s = kOffsets[b]; s < kOffsets[b + 1]; ++s) {
            const Floats one = product_of(held[static_cast<size_t>(b)], format, kN, kK,
                                          x.data() + row_of_slot[static_cast<size_t>(s)] * kK, 1, bias, 1);
            const Floats absent(static_cast<size_t>(kN), -7.0f);
            QVERIFY2(std::memcmp(y.data() + s * kN, (b == 2 ? absent : one).data(), kN * sizeof(float)) == 0,
                     qPrintable(QString("%1 %2: slot %3").arg(to_text(isa).data(), to_text(format).data()).arg(s)));
          }
      }
    });
  }

  void rows_of_a_table_in_blocks_are_expanded() {
    for_each_isa([&](Isa) {
      for (const DType format : kBlockFormats) {
        constexpr int64_t kRows = 9, kWidth = 256;
        const DrawnRows table(format, kRows, kWidth, 5);
        Floats all(static_cast<size_t>(kRows * kWidth)), y(static_cast<size_t>(3 * kWidth), -7.0f);
        block_kernels(format)->expand(table.data(), kRows * kWidth, all.data());
        const int32_t ids[] = {8, 0, 3};
        ThreadTeam team(2);
        embed_rows(team, table.data(), format, ids, 3, kWidth, 2.0f, y.data());
        QVERIFY(y.intact());
        for (size_t r = 0; r < 3; ++r)
          for (size_t i = 0; i < kWidth; ++i)
            QCOMPARE(y[r * kWidth + i], 2 * all[static_cast<size_t>(ids[r]) * kWidth + i]);
      }
    });
  }

  void sixty_four_columns_are_whole_rows() {
    QCOMPARE(columns_bytes(256, DType::q4_k), size_t{64 * 144});
    QCOMPARE(columns_bytes(256, DType::f32), size_t{64 * 256 * 4});
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::BlocksTest;
STORMCELL_TEST(BlocksTest)
#include "blocks_test.moc"
