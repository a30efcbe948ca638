// Loads that follow a power law have its exponent; distinct branches against counting them.
#include "core/profile/skew.h"

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class SkewTest : public QObject {
  Q_OBJECT
 private slots:
  void loads_of_a_power_law_have_its_exponent_data() {
    QTest::addColumn<double>("alpha");
    for (const double alpha : {0.2, 0.6, 1., 1.2, 1.7}) QTest::addRow("%.1f", alpha) << alpha;
  }
  void loads_of_a_power_law_have_its_exponent() {
    QFETCH(double, alpha);
    // As AIConfigurator draws them: the inverse of the distribution on [1, 0.8 tokens] at u, of 256 experts and 8
    // choices of a token; shuffled.
    constexpr int64_t kTokens = 100000, kExperts = 256, kChoices = 8 * kTokens;
    const double low = 1, high = 0.8 * kTokens, power = 1 - alpha;
    std::vector<double> drawn;
    double sum = 0;
    for (int64_t b = 0; b < kExperts; ++b) {
      const double u = (static_cast<double>(b * 77 % kExperts) + 0.5) / kExperts;
      drawn.push_back(
          alpha == 1 ? low * std::pow(high / low, u)
                     : std::pow((std::pow(high, power) - std::pow(low, power)) * u + std::pow(low, power), 1 / power));
      sum += drawn.back();
    }
    std::vector<int64_t> loads;
    for (const double d : drawn) loads.push_back(std::llround(d / sum * kChoices));
    const auto law = power_law_of(loads, kTokens);
    QVERIFY(law);
    QVERIFY2(std::abs(law->alpha - alpha) < 0.01 && law->error < 0.01,
             (std::to_string(law->alpha) + " " + std::to_string(law->error)).c_str());
  }

  void even_loads_are_no_power_law() {
    const std::vector<int64_t> even(64, 1000);
    const auto law = power_law_of(even, 8000);
    // Whatever the exponent, a law on so wide a range is far from even: the error says so.
    QVERIFY(law && law->error > 0.1);
    QVERIFY(!power_law_of(std::vector<int64_t>(8), 10) && !power_law_of({}, 0));
  }

  void distinct_branches_are_those_of_tokens_that_are_drawn() {
    const std::vector<int64_t> loads = {10, 5, 5, 0};  // of 10 cells, 2 choices each
    QVERIFY(std::abs(distinct_branches(loads, 10, 1) - 2) < 1e-12);
    QVERIFY(std::abs(distinct_branches(loads, 10, 2) - 2.5) < 1e-12);
    testing::Drawn<std::mt19937> random(5);
    double met = 0;
    constexpr int kRounds = 20000;
    for (int i = 0; i < kRounds; ++i) {
      std::set<int> branches;
      for (int t = 0; t < 3; ++t) branches.insert(0), branches.insert(random() % 2 ? 1 : 2);
      met += static_cast<double>(branches.size());
    }
    QVERIFY(std::abs(distinct_branches(loads, 10, 3) - met / kRounds) < 0.02);
  }
};

STORMCELL_TEST(SkewTest)

}  // namespace stormcell::testing

#include "skew_test.moc"
