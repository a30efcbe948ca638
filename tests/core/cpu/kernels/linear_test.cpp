#include "core/cpu/kernels/linear.h"

#include <QTest>

#include "core/cpu/kernels/elementwise.h"
#include "core/cpu/kernels/kernel_table.h"
#include "tests/core/cpu/kernels/kernel_case.h"
#include "tests/testing/testing.h"

namespace stormcell::cpu::testing {
namespace {

struct Packed {
  Packed(int64_t n, int64_t k, DType dtype, unsigned seed)
      : rows(random_floats(static_cast<size_t>(n * k), seed)), bytes(packed_bytes(n, k, dtype)) {
    pack({rows.data(), DType::f32, n, k}, dtype, bytes.data(), 0, panel_count(n));
    weight = {bytes.data(), n, k, dtype};
    for (size_t i = 0; i < rows.size(); ++i)
      stored.push_back(dtype == DType::bf16 ? bf16_to_f32(f32_to_bf16(rows[i])) : rows[i]);
  }
  Floats rows;
  Scratch bytes;
  std::vector<float> stored;  // the weights as their number format holds them
  PackedWeight weight;
};

double activated(Activation kind, double v) {
  switch (kind) {
    case Activation::none:
      return v;
    case Activation::relu:
      return v < 0 ? 0 : v;
    case Activation::gelu_erf:
      return v / 2 * (1 + std::erf(v / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    case Activation::silu:
      return v / (1 + std::exp(-v));
    case Activation::tanh:
      return std::tanh(v);
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-v));
  }
  return 0;
}

/// The products of all rows in double, and the sums of the terms' sizes, for x as it is and x rounded to bf16.
struct Reference {
  Reference(const Packed& w, const Floats& x, int64_t rows, int64_t ldx, bool rounds) : n(w.weight.n) {
    std::vector<double> row(static_cast<size_t>(w.weight.k));
    for (int64_t r = 0; r < rows; ++r) {
      for (size_t i = 0; i < row.size(); ++i) {
        const float a = x[static_cast<size_t>(r * ldx) + i];
        row[i] = rounds ? bf16_to_f32(f32_to_bf16(a)) : a;
      }
      for (int64_t c = 0; c < n; ++c) {
        double s = 0, absolute = 0;
        for (size_t i = 0; i < row.size(); ++i) {
          const double term = row[i] * w.stored[static_cast<size_t>(c) * row.size() + i];
          s += term, absolute += std::fabs(term);
        }
        sum.push_back(s), size.push_back(absolute);
      }
    }
  }
  int64_t n;
  std::vector<double> sum, size;
};

/// linear() of the last `rows` of all the rows of x against the reference; the tolerance is the worst case of one chain
/// of k f32 additions.
QString check_product(const Packed& w, const Reference& reference, int64_t rows, const Epilogue& e, const Floats& x,
                      int64_t ldx, ThreadTeam& team, const QString& where) {
  const int64_t n = w.weight.n, k = w.weight.k, ldy = n + 3, first = static_cast<int64_t>(x.size()) / ldx - rows;
  Floats y(static_cast<size_t>(rows * ldy), -7.0f);
  Scratch scratch(linear_scratch_bytes(rows, k, w.weight.dtype, team.size()));
  linear(team, x.data() + first * ldx, ldx, rows, w.weight, e, y.data(), ldy, scratch.data());
  if (!y.intact() || !scratch.intact() || !x.intact()) return where + ": wrote outside its output";
  std::vector<double> expected, tolerance;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < ldy; ++c) {
      if (c >= n) {  // between the rows of y
        expected.push_back(-7), tolerance.push_back(1e-30);
        continue;
      }
      const size_t at = static_cast<size_t>((first + r) * n + c);
      const double scale = double{e.scale} * (e.row_scale ? e.row_scale[r] : 1.0f);
      const double gate = e.multiply ? e.multiply[r * e.ld_extra + c] : 1,
                   rest = e.residual ? e.residual[r * e.ld_extra + c] : 0;
      const double sum = reference.sum[at] * scale + (e.bias ? e.bias[c] : 0);
      expected.push_back(e.residual_first ? activated(e.activation, sum + rest) * gate
                                          : activated(e.activation, sum) * gate + rest);
      tolerance.push_back(kEpsilon * (1.2 * (static_cast<double>(k) + 4) * reference.size[at] * std::fabs(scale) + 8) *
                          (std::fabs(gate) + 0.1));
    }
  return worst(y.data(), expected, tolerance, where);
}
bool rounds_x(const Packed& w) { return w.weight.dtype == DType::bf16 && kernels().product_bf16_rounds_x; }

}  // namespace

class LinearTest : public QObject {
  Q_OBJECT
 private slots:
  void every_shape_equals_double_loops() {
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const int64_t n : {1, 5, 63, 64, 65, 130})
        for (const int64_t k : {1, 2, 7, 95, 97, 200}) {
          const int64_t most = n >= 63 && k >= 95 ? 130 : 17;
          const Packed w(n, k, dtype, 1);
          const Floats x = random_floats(static_cast<size_t>(most * k), 2);
          const Reference exact(w, x, most, k, false), rounded(w, x, most, k, true);
          for_each_isa([&](Isa isa) {
            for (const int64_t rows : {0, 1, 2, 3, 4, 5, 6, 7, 11, 13, 17, 64, 130}) {
              if (rows > most) continue;
              ThreadTeam team(rows == 130 ? 3 : rows == 17 ? 2 : 1);
              const QString where = QString("%1 %2 n %3 k %4 rows %5")
                                        .arg(to_text(isa).data(), to_text(dtype).data())
                                        .arg(n)
                                        .arg(k)
                                        .arg(rows);
              const QString error = check_product(w, rounds_x(w) ? rounded : exact, rows, {}, x, k, team, where);
              QVERIFY2(error.isEmpty(), qPrintable(error));
            }
          });
        }
  }

  void epilogue_applies_its_steps_in_order() {
    const int64_t rows = 9, n = 70, k = 33, extra = n + 5;
    const Floats x = random_floats(static_cast<size_t>(rows * (k + 2)), 3), bias = random_floats(n, 4),
                 row_scale = random_floats(rows, 5, 2);
    const Floats multiply = random_floats(static_cast<size_t>(rows * extra), 6),
                 residual = random_floats(static_cast<size_t>(rows * extra), 7);
    ThreadTeam team(2);
    for_each_isa([&](Isa isa) {
      for (const DType dtype : {DType::f32, DType::bf16}) {
        const Packed w(n, k, dtype, 8);
        const Reference reference(w, x, rows, k + 2, rounds_x(w));
        for (const Activation a : {Activation::none, Activation::relu, Activation::gelu_erf, Activation::gelu_tanh,
                                   Activation::silu, Activation::tanh, Activation::sigmoid})
          for (int parts = 0; parts < 32; ++parts) {
            Epilogue e;
            e.activation = a, e.scale = 0.5f, e.ld_extra = extra;
            if (parts & 1) e.bias = bias.data();
            if (parts & 2) e.multiply = multiply.data();
            if (parts & 4) e.residual = residual.data();
            if (parts & 8) e.row_scale = row_scale.data();
            e.residual_first = (parts & 16) != 0;
            const QString error =
                check_product(w, reference, rows, e, x, k + 2, team,
                              QString("%1 activation %2 parts %3").arg(to_text(isa).data()).arg(int(a)).arg(parts));
            QVERIFY2(error.isEmpty(), qPrintable(error));
          }
      }
    });
  }

  void an_activation_of_the_sum_gives_the_bits_of_a_step_of_its_own() {
    const int64_t rows = 9, n = 70, k = 33;
    const Floats x = random_floats(static_cast<size_t>(rows * k), 3), bias = random_floats(n, 4),
                 residual = random_floats(static_cast<size_t>(rows * n), 5);
    ThreadTeam team(2);
    for_each_isa([&](Isa isa) {
      for (const DType dtype : {DType::f32, DType::bf16}) {
        const Packed w(n, k, dtype, 8);
        Scratch scratch(linear_scratch_bytes(rows, k, dtype, 2));
        for (const Activation a : kActivations)
          for (const bool biased : {false, true}) {
            Epilogue e;
            if (biased) e.bias = bias.data();
            e.residual = residual.data(), e.ld_extra = n;
            Floats sums(residual.size()), expected(residual.size()), came(residual.size());
            linear(team, x.data(), k, rows, w.weight, e, sums.data(), n, scratch.data());
            activate(team, a, sums.data(), rows * n, expected.data());
            e.activation = a, e.residual_first = true;
            linear(team, x.data(), k, rows, w.weight, e, came.data(), n, scratch.data());
            Guarded<uint16_t> rounded(residual.size()), halves(residual.size());
            activate(team, a, sums.data(), rows * n, rounded.data());
            e.to_bf16 = true;
            linear(team, x.data(), k, rows, w.weight, e, halves.data(), n, scratch.data());
            const QString where = QString("%1 activation %2").arg(to_text(isa).data()).arg(int(a));
            QVERIFY2(came == expected && came.intact(), qPrintable(where));
            QVERIFY2(halves == rounded && halves.intact(), qPrintable(where));
          }
      }
    });
  }

  void a_row_does_not_depend_on_its_neighbours_nor_on_the_threads() {
    const int64_t rows = 130, n = 130, k = 201;
    const Floats x = random_floats(static_cast<size_t>(rows * k), 9);
    Epilogue e;
    e.activation = Activation::gelu_erf;
    for_each_isa([&](Isa isa) {
      for (const DType dtype : {DType::f32, DType::bf16}) {
        const Packed w(n, k, dtype, 10);
        const auto product = [&](int64_t first, int64_t count, int threads) {
          ThreadTeam team(threads);
          Floats y(static_cast<size_t>(count * n));
          Scratch scratch(linear_scratch_bytes(count, k, dtype, threads));
          linear(team, x.data() + first * k, k, count, w.weight, e, y.data(), n, scratch.data());
          return y;
        };
        const Floats all = product(0, rows, 1);
        QVERIFY2(all == product(0, rows, 2) && all == product(0, rows, 3), to_text(isa).data());
        for (const int64_t count : {1, 2, 5, 6, 7, 13, 40})
          for (int64_t first = 0; first + count <= rows; first += 29) {
            const Floats some = product(first, count, 1 + static_cast<int>(count % 2));
            QVERIFY2(std::memcmp(some.data(), all.data() + first * n, some.size() * sizeof(float)) == 0,
                     to_text(isa).data());
          }
      }
    });
  }

  void residual_and_gate_may_be_the_output() {
    const int64_t rows = 14, n = 100, k = 50;
    const Packed w(n, k, DType::f32, 11);
    const Floats x = random_floats(static_cast<size_t>(rows * k), 12),
                 before = random_floats(static_cast<size_t>(rows * n), 13);
    ThreadTeam team(2);
    Scratch scratch(linear_scratch_bytes(rows, k, DType::f32, 2));
    Floats apart(static_cast<size_t>(rows * n)), in_place(before);
    Epilogue e;
    e.ld_extra = n;
    e.residual = e.multiply = before.data();
    linear(team, x.data(), k, rows, w.weight, e, apart.data(), n, scratch.data());
    e.residual = e.multiply = in_place.data();
    linear(team, x.data(), k, rows, w.weight, e, in_place.data(), n, scratch.data());
    QVERIFY(apart == in_place);
  }
};

}  // namespace stormcell::cpu::testing

using stormcell::cpu::testing::LinearTest;
STORMCELL_TEST(LinearTest)
#include "linear_test.moc"
