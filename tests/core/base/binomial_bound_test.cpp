#include "core/base/binomial_bound.h"

#include <cmath>
#include <utility>
#include <vector>

#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

/// The probability of at most `hits`, summed term by term.
double at_most(int64_t hits, int64_t of, double share) {
  double sum = 0, choose = 1;
  for (int64_t i = 0; i <= hits; ++i) {
    sum += choose * std::pow(share, static_cast<double>(i)) * std::pow(1 - share, static_cast<double>(of - i));
    choose *= static_cast<double>(of - i) / static_cast<double>(i + 1);
  }
  return sum;
}

}  // namespace

class BinomialBoundTest : public QObject {
  Q_OBJECT
 private slots:
  void so_few_hits_are_a_case_of_twenty_at_the_bound() {
    const std::vector<std::pair<int64_t, int64_t>> seen = {{0, 1}, {0, 500}, {1, 10}, {3, 500}, {50, 100}, {9, 10}};
    for (const auto& [hits, of] : seen)
      QVERIFY(std::fabs(at_most(hits, of, binomial_upper_bound(hits, of)) - 0.05) < 1e-9);
  }

  void the_ends() {
    QVERIFY(std::fabs(binomial_upper_bound(0, 500) - 0.005973550) < 1e-8);  // 1 - 0.05^(1/500)
    QCOMPARE(binomial_upper_bound(7, 7), 1.0);
    QVERIFY(binomial_upper_bound(3, int64_t{1} << 40) < 1e-11);
  }
};
STORMCELL_TEST(BinomialBoundTest)
#include "binomial_bound_test.moc"
