// Residues: the field's arithmetic, exact conversions, the functions that are drawn, and a kernel in the field for
// every operator.
#include "core/oracle/residue.h"

#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/oracle/reference/frame.h"
#include "tests/testing/graph_case.h"
#include "core/oracle/residue_oracle.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

std::vector<Residue> drawn_residues(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<Residue> drawn;
  for (size_t i = 0; i < count; ++i) drawn.push_back(Residue::of_bits(random.next()));
  return drawn;
}

}  // namespace

class ResidueTest : public QObject {
  Q_OBJECT
 private slots:
  void floats_are_converted_exactly() {
    QVERIFY(Residue(0.5) + Residue(0.5) == 1);
    QVERIFY(Residue(-3) + 3 == 0);
    QVERIFY(Residue(-2.75f) * 4 == -11);
    QVERIFY(Residue(-0.0) == 0);
    QVERIFY(Residue(static_cast<double>(uint64_t{1} << 62)) == 2);  // 2^61 is 1
    QVERIFY(Residue(0x1p-1074) * Residue(0x1p1000) * Residue(0x1p74) == 1);
    // The float nearest to 0.1 is no tenth.
    QVERIFY(Residue(0.1f) * 10 != 1);
    QVERIFY(Residue(0.1f) == Residue(static_cast<double>(0.1f)));
    QVERIFY(Residue(0.1f) * Residue(0x1p27) == 13421773);
  }
  void numbers_that_are_not_finite_are_refused() {
    QVERIFY_THROWS_EXCEPTION(Error, Residue(NAN));
    QVERIFY_THROWS_EXCEPTION(Error, Residue(-INFINITY));
  }

  void the_arithmetic_is_that_of_a_field() {
    const std::vector<Residue> x = drawn_residues(300, 1);
    for (size_t i = 0; i + 2 < x.size(); i += 3) {
      const Residue a = x[i], b = x[i + 1], c = x[i + 2];
      QVERIFY((a + b) * c == a * c + b * c);
      QVERIFY((a * b) * c == a * (b * c));
      QVERIFY(a + b - b == a);
      QVERIFY(a + -a == 0);
      QVERIFY(a * b / b == a);
      QVERIFY(a / 3 + a / 3 + a / 3 == a);
    }
    const Residue largest = Residue(-1);
    QCOMPARE(largest.element(), Residue::kPrime - 1);
    QVERIFY(largest * largest == 1);
    QVERIFY(largest + 1 == 0);
    QVERIFY(Residue(0).inverse() == 0);
  }
  void sums_do_not_depend_on_their_order() {
    const std::vector<Residue> x = drawn_residues(1000, 2);
    Residue forwards, backwards;
    for (size_t i = 0; i < x.size(); ++i)
      forwards += x[i] * x[x.size() - 1 - i], backwards += x[x.size() - 1 - i] * x[i];
    QVERIFY(forwards == backwards);
  }

  void functions_are_unlike_one_another_and_no_identity() {
    for (const Residue x : drawn_residues(100, 3)) {
      const std::vector<Residue> values = {x,
                                           exp(x),
                                           sqrt(x),
                                           erf(x),
                                           tanh(x),
                                           positive_part(x),
                                           at_least(x, Residue(1e-12)),
                                           at_least(x, Residue(1e-30)),
                                           at_most(x, Residue(1e-12)),
                                           to_bf16(x)};
      for (size_t i = 0; i < values.size(); ++i)
        for (size_t j = 0; j < i; ++j) QVERIFY(values[i] != values[j]);
      QVERIFY(exp(x) == exp(x + 1 - 1));
      QVERIFY(to_score(x) >= -8 && to_score(x) < 8);
    }
  }
  void the_order_is_total_and_begins_with_the_lowest() {
    const std::vector<Residue> x = drawn_residues(300, 4);
    const Residue least = lowest(Residue());
    for (size_t i = 0; i + 2 < x.size(); i += 3) {
      const Residue a = x[i], b = x[i + 1], c = x[i + 2];
      QVERIFY(is_above(a, b) != is_above(b, a));
      QVERIFY(!is_above(a, a));
      QVERIFY(max(a, b) == max(b, a));
      QVERIFY(max(max(a, b), c) == max(a, max(b, c)));
      QVERIFY(is_above(a, least) && !is_above(least, a) && !is_above(least, least));
      QVERIFY(max(a, least) == a);
      QVERIFY(exp(least - a) == 0);
    }
  }

  /// The operators that a plan computes with. Regions and routers are the oracle's own; what ranks exchange it does not
  /// compute.
  void every_operator_has_a_kernel_in_the_field() {
    for (const Operator* op : operators()) {
      const bool of_its_own =
          op->role == Role::route || op->role == Role::guard || op->role == Role::repeat || op->role == Role::exchange;
      QVERIFY2((reference::find_kernel<Residue>(op->name) != nullptr) != of_its_own, std::string(op->name).c_str());
      QCOMPARE(reference::find_kernel<Residue>(op->name) != nullptr,
               reference::find_kernel<float>(op->name) != nullptr);
    }
  }
};
STORMCELL_TEST(ResidueTest)
#include "residue_test.moc"
