#include "core/cpu/kernels/grouped_linear.h"

#include <QTest>
#include <algorithm>

#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {

class GroupedLinearTest : public QObject {
  Q_OBJECT

  // Branches with 0, 1, 3, 250, 0, 17 and 40 rows; the fifth and the last are absent.
  static constexpr int32_t kOffsets[] = {0, 0, 1, 4, 254, 254, 271, 311};
  static constexpr int32_t kBranches = 7, kSlots = 311, kCells = 97;
  static constexpr bool absent(int32_t branch) { return branch == 4 || branch == 6; }

 private slots:
  void gives_the_bits_of_one_product_a_branch() {
    std::vector<int32_t> row_of_slot(kSlots);
    for (int32_t s = 0; s < kSlots; ++s) row_of_slot[static_cast<size_t>(s)] = s * 31 % kCells;
    for_each_isa([&](Isa isa) {
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const auto& [n, k] : {std::pair<int64_t, int64_t>{192, 77}, {40, 130}, {65, 64}})
          for (const bool gathers : {false, true})
            for (const int threads : {1, 2, 3}) {
              const QString error = check(isa, dtype, n, k, gathers ? row_of_slot.data() : nullptr, threads);
              QVERIFY2(error.isEmpty(), qPrintable(error));
            }
    });
  }

  void without_rows_nothing_happens() {
    const int32_t offsets[] = {0, 0, 0};
    const PackedWeight* weights[] = {nullptr, nullptr};
    GroupedRows rows;
    rows.offsets = offsets, rows.branches = 2, rows.weights = weights;
    ThreadTeam team(2);
    grouped_linear(team, rows, {}, nullptr, 0, nullptr);
  }

 private:
  static QString check(Isa isa, DType dtype, int64_t n, int64_t k, const int32_t* row_of_slot, int threads) {
    const QString where = QString("%1 %2 n %3 gathers %4 threads %5")
                              .arg(to_text(isa).data(), to_text(dtype).data())
                              .arg(n)
                              .arg(row_of_slot != nullptr)
                              .arg(threads);
    std::vector<Scratch> bytes;
    std::vector<PackedWeight> packed;
    std::vector<Floats> biases;
    for (int32_t b = 0; b < kBranches; ++b) {
      const Floats rows = random_floats(static_cast<size_t>(n * k), static_cast<unsigned>(b));
      bytes.emplace_back(packed_bytes(n, k, dtype));
      pack({rows.data(), DType::f32, n, k}, dtype, bytes.back().data(), 0, panel_count(n));
      biases.push_back(random_floats(static_cast<size_t>(n), 100 + static_cast<unsigned>(b)));
    }
    const PackedWeight* weights[kBranches];
    const float* bias_of[kBranches];
    packed.reserve(kBranches);
    for (size_t b = 0; b < kBranches; ++b) {
      packed.push_back({bytes[b].data(), n, k, dtype});
      weights[b] = absent(static_cast<int32_t>(b)) ? nullptr : &packed[b];
      bias_of[b] = b == 1 ? nullptr : biases[b].data();
    }
    const Floats x = random_floats(static_cast<size_t>((row_of_slot ? kCells : kSlots) * k), 50);
    const Floats residual = random_floats(static_cast<size_t>(kSlots * n), 51), row_scale = random_floats(kSlots, 52);
    Epilogue e;
    e.activation = Activation::relu;
    e.residual = residual.data(), e.ld_extra = n, e.row_scale = row_scale.data();

    GroupedRows rows;
    rows.x = x.data(), rows.ldx = k, rows.row_of_slot = row_of_slot, rows.offsets = kOffsets, rows.branches = kBranches;
    rows.weights = weights, rows.biases = bias_of;
    ThreadTeam team(threads);
    Floats y(static_cast<size_t>(kSlots * n), -7.0f), expected(static_cast<size_t>(kSlots * n), -7.0f);
    Scratch scratch(grouped_linear_scratch_bytes(kSlots, k, dtype, threads));
    grouped_linear(team, rows, e, y.data(), n, scratch.data());
    if (!y.intact() || !scratch.intact()) return where + ": wrote outside its output";

    for (int32_t b = 0; b < kBranches; ++b) {
      const int64_t first = kOffsets[b], count = kOffsets[b + 1] - first;
      if (absent(b) || count == 0) continue;
      Floats gathered(static_cast<size_t>(count * k)), scales(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = row_of_slot ? row_of_slot[first + i] : first + i;
        std::copy_n(x.data() + row * k, k, gathered.data() + i * k);
        scales[static_cast<size_t>(i)] = row_scale[static_cast<size_t>(row)];
      }
      Epilogue own = e;
      own.bias = bias_of[b], own.residual = residual.data() + first * n, own.row_scale = scales.data();
      Scratch room(linear_scratch_bytes(count, k, dtype, threads));
      linear(team, gathered.data(), k, count, packed[static_cast<size_t>(b)], own, expected.data() + first * n, n,
             room.data());
    }
    return y == expected ? QString() : where + ": other bits than branch by branch";
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::GroupedLinearTest;
STORMCELL_TEST(GroupedLinearTest)
#include "grouped_linear_test.moc"
