// Rows that lie in bf16: read, they give the bits that their f32 numbers give; written, they are the f32 results
// rounded to nearest even.
#include <QTest>
#include <algorithm>
#include <limits>

#include "core/base/dtype.h"
#include "core/cpu/kernels/attention.h"
#include "core/cpu/kernels/elementwise.h"
#include "core/cpu/kernels/grouped_linear.h"
#include "core/cpu/kernels/norm.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
namespace {

using Halves = Guarded<uint16_t>;

Halves rounded(const Floats& x) {
  Halves h(x.size());
  for (size_t i = 0; i < x.size(); ++i) h[i] = f32_to_bf16(x[i]);
  return h;
}
Floats widened(const Halves& h) {
  Floats x(h.size());
  for (size_t i = 0; i < h.size(); ++i) x[i] = bf16_to_f32(h[i]);
  return x;
}

/// Two branches' weights over slots that read rows of x by number.
struct Grouped {
  Grouped(int64_t n, int64_t k, DType dtype) {
    for (unsigned b = 0; b < 2; ++b) {
      const Floats rows = random_floats(static_cast<size_t>(n * k), b + 1);
      bytes.emplace_back(packed_bytes(n, k, dtype));
      pack({rows.data(), DType::f32, n, k}, dtype, bytes.back().data(), 0, panel_count(n));
    }
    for (size_t b = 0; b < 2; ++b) packed[b] = {bytes[b].data(), n, k, dtype}, weights[b] = &packed[b];
    for (int32_t s = 0; s < kSlots; ++s) row_of_slot[s] = s * 7 % kCells;
    rows.row_of_slot = row_of_slot;
    rows.offsets = offsets, rows.branches = 2, rows.weights = weights, rows.ldx = k;
  }
  static constexpr int32_t kSlots = 150, kCells = 40;
  std::vector<Scratch> bytes;
  PackedWeight packed[2];
  const PackedWeight* weights[2];
  int32_t row_of_slot[kSlots], offsets[3] = {0, 37, kSlots};
  GroupedRows rows;
};

}  // namespace

class Bf16RowsTest : public QObject {
  Q_OBJECT
 private slots:
  void products_read_and_write_them() {
    for_each_isa([&](Isa isa) {
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const auto& [n, k] : {std::pair<int64_t, int64_t>{192, 76}, {40, 130}, {66, 64}})
          for (const bool gathers : {false, true})
            for (const int threads : {1, 3}) {
              const QString where =
                  QString("%1 %2 %3x%4").arg(to_text(isa).data(), to_text(dtype).data()).arg(n).arg(k);
              Grouped g(n, k, dtype);
              if (!gathers) g.rows.row_of_slot = nullptr;
              const Halves x = rounded(random_floats(static_cast<size_t>(Grouped::kSlots * k), 9));
              const Floats wide = widened(x), residual = random_floats(static_cast<size_t>(Grouped::kSlots * n), 10);
              Epilogue e;
              e.activation = Activation::silu, e.residual = residual.data(), e.ld_extra = n;
              ThreadTeam team(threads);
              Floats expected(residual.size());
              Scratch scratch(grouped_linear_scratch_bytes(Grouped::kSlots, k, dtype, threads));
              g.rows.x = wide.data();
              grouped_linear(team, g.rows, e, expected.data(), n, scratch.data());
              Floats read(residual.size());
              Scratch less(grouped_linear_scratch_bytes(Grouped::kSlots, k, dtype, threads, DType::bf16));
              g.rows.x = nullptr, g.rows.x_bf16 = x.data();
              grouped_linear(team, g.rows, e, read.data(), n, less.data());
              QVERIFY2(read == expected && less.intact(), qPrintable(where));
              Halves written(residual.size());
              e.to_bf16 = true;
              grouped_linear(team, g.rows, e, written.data(), n, less.data());
              QVERIFY2(written == rounded(expected) && written.intact() && read.intact(), qPrintable(where));
            }
    });
  }
  void a_row_alone_gives_its_bits_too() {
    for_each_isa([&](Isa isa) {
      Grouped g(66, 64, DType::bf16);
      const Halves x = rounded(random_floats(5 * 64, 3));
      const Floats wide = widened(x);
      ThreadTeam team(1);
      Floats expected(5 * 66), came(5 * 66);
      Scratch scratch(linear_scratch_bytes(5, 64, DType::bf16, 1)),
          less(linear_scratch_bytes(5, 64, DType::bf16, 1, DType::bf16));
      linear(team, wide.data(), 64, 5, g.packed[0], {}, expected.data(), 66, scratch.data());
      linear(team, x.data(), 64, 5, g.packed[0], {}, came.data(), 66, less.data());
      QVERIFY2(came == expected, to_text(isa).data());
    });
  }
  void norms_activations_and_products_of_elements_write_them() {
    for_each_isa([&](Isa isa) {
      for (const int64_t d : {2, 14, 16, 34, 64, 100})
        for (const int64_t rows : {1, 5, 400}) {
          ThreadTeam team(2);
          const Floats x = random_floats(static_cast<size_t>(rows * d), 1, 3), other = random_floats(x.size(), 2),
                       gain = random_floats(static_cast<size_t>(d), 4);
          Floats expected(x.size());
          Halves came(x.size());
          rms_norm(team, x.data(), rows, d, gain.data(), 1e-6f, expected.data());
          rms_norm(team, x.data(), rows, d, gain.data(), 1e-6f, came.data());
          QVERIFY2(came == rounded(expected) && came.intact(), to_text(isa).data());
          for (const Activation kind :
               {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
            activate(team, kind, x.data(), rows * d, expected.data());
            activate(team, kind, x.data(), rows * d, came.data());
            QVERIFY2(came == rounded(expected) && came.intact(), to_text(isa).data());
          }
          multiply(team, x.data(), other.data(), rows * d, expected.data());
          multiply(team, x.data(), other.data(), rows * d, came.data());
          QVERIFY2(came == rounded(expected) && came.intact(), to_text(isa).data());
        }
    });
  }
  void what_is_no_number_stays_none() {
    const float infinite = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
    Floats x(36);
    const float cases[] = {0.0f, -0.0f, infinite, -infinite, none, 3.39e38f, 1.00390625f, 1.01171875f, -1.00390625f};
    for (size_t i = 0; i < x.size(); ++i) x[i] = cases[i % std::size(cases)];
    for_each_isa([&](Isa isa) {
      ThreadTeam team(1);
      Halves came(x.size());
      activate(team, Activation::none, x.data(), static_cast<int64_t>(x.size()), came.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const float wide = bf16_to_f32(came[i]);
        QVERIFY2(std::isnan(x[i]) ? std::isnan(wide) : came[i] == f32_to_bf16(x[i]), to_text(isa).data());
      }
    });
  }
  void attention_writes_them() {
    for_each_isa([&](Isa isa) {
      for (const int32_t value_dim : {2, 16, 34})
        for (const bool gaps : {false, true}) {
          AttentionProblem p;
          p.heads = 4, p.kv_heads = 2, p.head_dim = 8, p.value_dim = value_dim, p.scale = 0.3f;
          p.sequences = 3, p.q_length = 9, p.k_length = 9;
          // Sequences of 9, 0 and 5 cells, in places with gaps or without.
          const int32_t offsets[] = {0, 9, 9, 14}, ones[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4},
                        apart[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 2, 3, 6, 8};
          p.q_offsets = p.k_offsets = offsets;
          p.q_places = p.k_places = gaps ? apart : ones;
          std::vector<int32_t> mask(14, 1);
          std::fill(mask.begin(), mask.begin() + 9, 0);  // the first sequence sees no key
          p.key_mask = mask.data();
          const int64_t ldo = p.heads * value_dim;
          const Floats q = random_floats(14 * 32, 1), k = random_floats(14 * 16, 2),
                       v = random_floats(static_cast<size_t>(14 * 2 * value_dim), 3);
          ThreadTeam team(2);
          Scratch scratch(attention_scratch_bytes(p, 2));
          Floats expected(static_cast<size_t>(14 * ldo));
          attention(team, q.data(), 32, k.data(), 16, v.data(), 2 * value_dim, p, expected.data(), ldo, scratch.data());
          Halves came(expected.size());
          p.out_bf16 = true;
          attention(team, q.data(), 32, k.data(), 16, v.data(), 2 * value_dim, p, came.data(), ldo, scratch.data());
          QVERIFY2(came == rounded(expected) && came.intact() && scratch.intact(), to_text(isa).data());
        }
    });
  }
};

STORMCELL_TEST(Bf16RowsTest)

}  // namespace stormcell::cpu::testing
#include "bf16_rows_test.moc"
