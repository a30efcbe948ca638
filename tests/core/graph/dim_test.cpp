// Symbolic extents behave as the polynomials they are.
#include "core/graph/dim.h"

#include "core/base/error.h"
#include "tests/testing/complaint.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::dim_test {
namespace {
const std::vector<std::string> kSymbols{"N", "T", "P"};

Dim random_dim(Random& random) {
  Dim sum(random.between(0, 3));
  for (int64_t terms = random.between(0, 3); terms > 0; --terms) {
    Dim term(random.between(1, 5));
    for (int64_t factors = random.between(1, 2); factors > 0; --factors)
      term = term * Dim::symbol(static_cast<SymbolId>(random.below(3)));
    sum = sum + term;
  }
  return sum;
}
std::string said_of(const std::string& text) {
  return testing::complaint([&] { Dim::parse(text, kSymbols, "here"); });
}
}  // namespace

class DimTest : public QObject {
  Q_OBJECT
 private slots:
  void sums_and_products_are_those_of_numbers() {
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
      const Dim a = random_dim(random), b = random_dim(random), c = random_dim(random);
      const Bindings values{random.between(0, 9), random.between(0, 9), random.between(0, 9)};
      QCOMPARE((a + b).evaluate(values), a.evaluate(values) + b.evaluate(values));
      QCOMPARE((a * b).evaluate(values), a.evaluate(values) * b.evaluate(values));
      // One canonical form: equal polynomials are equal values.
      QVERIFY(a + b == b + a && a * b == b * a);
      QVERIFY((a + b) + c == a + (b + c) && (a * b) * c == a * (b * c));
      QVERIFY(a * (b + c) == a * b + a * c);
      QVERIFY(a + Dim(0) == a && a * Dim(1) == a && a * Dim(0) == Dim(0));
      QVERIFY(Dim::parse(a.to_text(kSymbols), kSymbols, "text") == a);
    }
  }
  void texts_are_canonical() {
    const Dim n = Dim::symbol(0), t = Dim::symbol(1);
    QCOMPARE((t * Dim(8) * n).to_text(kSymbols), std::string("8*N*T"));
    QCOMPARE((t + n + Dim(3)).to_text(kSymbols), std::string("3+N+T"));
    QCOMPARE((n + n).to_text(kSymbols), std::string("2*N"));
    QCOMPARE(Dim(0).to_text(kSymbols), std::string("0"));
  }
  void constants_are_known_without_values() {
    QVERIFY(Dim(7).is_constant() && Dim(7).constant() == 7 && Dim().constant() == 0);
    QVERIFY(!Dim::symbol(0).is_constant());
    QVERIFY((Dim::symbol(0) * Dim(0)).is_constant());
    QVERIFY_THROWS_EXCEPTION(Error, Dim::symbol(0).constant());
  }
  void too_large_extents_saturate() {
    const Dim huge = Dim(int64_t{1} << 40) * Dim::symbol(0);
    QCOMPARE((huge * huge).evaluate(Bindings{1, 1, 1}), INT64_MAX);
    QCOMPARE(huge.evaluate(Bindings{INT64_MAX, 1, 1}), INT64_MAX);
    QCOMPARE((huge + Dim(INT64_MAX)).evaluate(Bindings{1, 1, 1}), INT64_MAX);
  }
  void broken_texts_are_refused() {
    QCOMPARE(said_of("N*X"), std::string("here: unknown symbol \"X\" in an extent (declare it first)"));
    const std::string form = "here: expected an extent as \"8*N*T\" or \"P+T\"";
    for (const char* text : {"", "N+", "+N", "N*", "*N", "N++T"})
      QCOMPARE(said_of(text), text[0] == '*' ? said_of("*N") : form);
    QVERIFY(!said_of("*N").empty() && !said_of("N**T").empty() && !said_of("3 N").empty() &&
            !said_of(std::string(5000, '1')).empty());
  }
};

STORMCELL_TEST(DimTest)

}  // namespace stormcell::testing::dim_test

#include "dim_test.moc"
