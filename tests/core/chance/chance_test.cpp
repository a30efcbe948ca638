// Even routers are seldom called beyond chance, and even recordings of many layers no more often.
#include <QTest>
#include <cmath>
#include <cstdio>
#include <random>

#include "core/base/balance.h"
#include "core/chance/count_tail.h"
#include "core/chance/even_pairs.h"
#include "core/chance/even_router.h"
#include "core/profile/pair_figures.h"
#include "tests/core/chance/even_routers.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int kRouters = 1000, kRecordings = 300, kLayers = 48;
constexpr double kMostCalled = .065, kMostRecordingsCalled = .08;

using Engine = Drawn<std::mt19937_64>;

struct Calls {
  int imbalance = 0, entropy = 0, gini = 0, router = 0;
  std::string text() const {
    return "imbalance " + std::to_string(imbalance) + ", entropy " + std::to_string(entropy) + ", gini " +
           std::to_string(gini) + ", router " + std::to_string(router);
  }
};
bool is_called(const ChanceFigure& f) { return f.beside != BesideChance::within; }
void count(const LoadsBesideChance& judged, Calls& calls) {
  calls.imbalance += is_called(judged.imbalance), calls.entropy += is_called(judged.entropy_bits);
  calls.gini += is_called(judged.gini), calls.router += judged.p_value <= kFalseCalls;
}

}  // namespace

class ChanceTest : public QObject {
  Q_OBJECT
 private slots:
  void tails_by_hand() {
    QVERIFY(std::abs(binomial_from(2, 3, .5) - .5) < 1e-12);
    QVERIFY(std::abs(binomial_from(10, 10, .3) - std::pow(.3, 10)) < 1e-15);
    QVERIFY(std::abs(binomial_from(1, 5, .2) - (1 - std::pow(.8, 5))) < 1e-12);
    QVERIFY(binomial_from(0, 5, .2) == 1 && binomial_from(6, 5, .2) == 0);
    QVERIFY(std::abs(binomial_to(1, 3, .5) - .5) < 1e-12 && std::abs(binomial_to(0, 5, .2) - std::pow(.8, 5)) < 1e-12);
    QVERIFY(binomial_to(-1, 5, .2) == 0 && binomial_to(5, 5, .2) == 1 && binomial_to(3, 5, 0) == 1);
    // Both tails of a count have all of it; a small one keeps its digits.
    for (int count = 0; count < 12; ++count)
      QVERIFY(std::abs(binomial_to(count, 11, .3) + binomial_from(count + 1, 11, .3) - 1) < 1e-12);
    QVERIFY(std::abs(binomial_to(0, 400, .5) / std::pow(.5, 400) - 1) < 1e-9);
    QVERIFY(std::abs(normal_beyond(1.959964) - .05) < 1e-6);
    // The larger of two Poisson counts of mean 1: E = sum over m of 1 - F(m)^2.
    double expected = 0, cumulative = 0, term = std::exp(-1.);
    for (int m = 0; m < 40; ++m) cumulative += term, expected += 1 - cumulative * cumulative, term /= m + 1;
    QVERIFY(std::abs(largest_count(1, 1, 2).mean - expected) < 1e-6);
  }

  void even_routers_are_seldom_called_data() {
    QTest::addColumn<int>("branches");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("cells");
    QTest::newRow("few cells") << 8 << 2 << 60;
    QTest::newRow("many branches") << 64 << 8 << 1000;
    QTest::newRow("one choice") << 16 << 1 << 3000;
  }
  void even_routers_are_seldom_called() {
    QFETCH(int, branches);
    QFETCH(int, k);
    QFETCH(int, cells);
    Engine random(3);
    EvenRouters even(1);
    SkewedRouter router(branches, k);
    Calls calls;
    for (int r = 0; r < kRouters; ++r) count(even.judge(router.loads(random, cells), k), calls);
    std::printf("even routers of %d branches, k %d, %d cells: called of %d: %s\n", branches, k, cells, kRouters,
                calls.text().c_str());
    for (const int called : {calls.imbalance, calls.entropy, calls.gini, calls.router})
      QVERIFY2(called <= kMostCalled * kRouters, calls.text().c_str());
    // Calls are not withheld either: an interval of 95 % leaves some out, unless figures take few values.
    QVERIFY(calls.gini >= .02 * kRouters);
  }

  void even_pairs_are_seldom_called_data() {
    QTest::addColumn<int>("branches");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("cells");
    QTest::newRow("two of eight") << 8 << 2 << 1500;
    QTest::newRow("four of 32") << 32 << 4 << 1200;
    QTest::newRow("one of eight") << 8 << 1 << 800;
  }
  void even_pairs_are_seldom_called() {
    QFETCH(int, branches);
    QFETCH(int, k);
    QFETCH(int, cells);
    Engine random(5);
    int likeliest = 0, transitions = 0, together = 0, outside = 0, lifts = 0, rarer = 0, rarer_together = 0;
    for (int r = 0; r < kRouters; ++r) {
      const TwoRouters<Engine> two(random, {branches, k}, {branches, k}, branches, cells);
      const TransitionFigures figures = transition_figures(two.transitions, two.load);
      const auto judged = likeliest_beside_chance(two.transitions, two.load, figures.likeliest, k);
      likeliest += judged && is_called(*judged);
      const PairsBesideChance next = transitions_beside_chance(two.transitions, k, 1);
      transitions += !next.beyond.empty(), rarer += !next.rarer.empty();
      if (k == 1) continue;
      const PairsBesideChance pairs = coactivation_beside_chance(two.together, k, 1);
      together += !pairs.beyond.empty(), rarer_together += !pairs.rarer.empty();
      const auto strongest = strongest_together(two.together);
      const auto lift = largest_lift_by_chance(two.together.total(), branches, k);
      if (strongest.empty() || !lift) continue;
      ++lifts, outside += strongest[0].lift < lift->low - 1e-9 || strongest[0].lift > lift->high + 1e-9;
    }
    const std::string text = "likeliest " + std::to_string(likeliest) + ", transitions " + std::to_string(transitions) +
                             ", together " + std::to_string(together) + ", rarer " + std::to_string(rarer) +
                             " and " + std::to_string(rarer_together) + ", largest lift outside " +
                             std::to_string(outside) + " of " + std::to_string(lifts);
    std::printf("even pairs of %d branches, k %d, %d cells: called of %d: %s\n", branches, k, cells, kRouters,
                text.c_str());
    for (const int called : {likeliest, transitions, together, outside, rarer, rarer_together})
      QVERIFY2(called <= kMostCalled * kRouters, text.c_str());
    QVERIFY2(likeliest >= .02 * kRouters && transitions > 0, text.c_str());
  }

  /// Pairs that a router avoids, one of them altogether.
  void pairs_that_are_too_rare_are_called() {
    PairTable next{4, 4, {}};
    for (int32_t i = 0; i < 4; ++i)
      for (int32_t j = 0; j < 4; ++j)
        if (i != 2 || j != 1) next.entries.push_back({i, j, i == 1 && j == 3 ? 60 : 100});
    const PairsBesideChance judged = transitions_beside_chance(next, 1, 10);
    QCOMPARE(judged.tested, int64_t{16});
    QCOMPARE(judged.rarer.size(), size_t{2});
    QVERIFY(judged.rarer[0].from == 2 && judged.rarer[0].to == 1 && judged.rarer[0].cells == 0);
    QVERIFY(judged.rarer[1].from == 1 && judged.rarer[1].to == 3 && judged.rarer[1].cells == 60);
    QVERIFY(judged.rarer[0].p_value < judged.rarer[1].p_value && judged.rarer[0].p_value > 0);
    // Pairs that are judged one by one have the same verdicts.
    const TransitionJudge judge(next, 1, 10);
    QVERIFY(judge.side({1, 3, 60}) == PairSide::more_rarely && judge.side({2, 1, 0}) == PairSide::more_rarely);
    for (const PairCount& pair : next.entries)
      QCOMPARE(judge.side(pair) == PairSide::more_often, judged.is_beyond(pair.from, pair.to));
    // Among few cells nothing is too rare.
    for (PairCount& pair : next.entries) pair.count /= 20;
    QVERIFY(transitions_beside_chance(next, 1, 10).rarer.empty());
    // Branches 0 and 1 are never together.
    PairTable together{4, 4, {{0, 2, 300}, {0, 3, 300}, {1, 2, 300}, {1, 3, 300}, {2, 3, 300}}};
    const PairsBesideChance pairs = coactivation_beside_chance(together, 2, 10);
    QVERIFY(!pairs.rarer.empty() && pairs.rarer[0].from == 0 && pairs.rarer[0].to == 1);
    // A branch that nobody chooses is in no pair.
    PairTable dead{3, 3, {{0, 0, 100}, {0, 1, 100}, {1, 0, 100}, {1, 1, 100}}};
    QVERIFY(transitions_beside_chance(dead, 1, 1).rarer.empty());
    QVERIFY(transitions_beside_chance({3, 3, {}}, 1, 1).rarer.empty());
  }

  /// A table of millions of branches is no dense one.
  void unused_branches_take_no_time() {
    PairTable sparse{1 << 22, 1 << 22, {{5, 7, 40}, {5, 9, 40}, {1 << 21, 7, 40}}};
    const PairsBesideChance judged = transitions_beside_chance(sparse, 1, 1);
    QVERIFY(judged.tested == 4 && judged.rarer.size() == 2);
    QVERIFY(judged.rarer[0].from == 1 << 21 && judged.rarer[0].to == 9 && judged.rarer[0].cells == 0);
  }

  void even_recordings_have_no_layer_beyond_chance() {
    Engine random(7);
    EvenRouters even(kLayers);
    SkewedRouter router(16, 2);
    int loads = 0, figures = 0;
    for (int r = 0; r < kRecordings; ++r) {
      bool called = false, at_one = false;
      for (int l = 0; l < kLayers; ++l) {
        const LoadsBesideChance judged = even.judge(router.loads(random, 200), 2);
        called |= judged.p_value * kLayers <= kFalseCalls, at_one |= is_called(judged.gini);
      }
      loads += called, figures += at_one;
    }
    std::printf("even recordings of %d layers: any layer called %d, by single figures %d of %d\n", kLayers, loads,
                figures, kRecordings);
    QVERIFY(loads <= kMostRecordingsCalled * kRecordings);
    QVERIFY(loads > 0 && figures > kRecordings / 2);  // without the number of layers most would be called
  }

  void a_skewed_next_router_is_no_transition() {
    Engine random(9);
    int pairs = 0, likeliest = 0;
    for (int r = 0; r < 100; ++r) {
      const TwoRouters<Engine> two(random, {8, 2, 1}, {8, 2, 2}, 8, 2000);
      pairs += !transitions_beside_chance(two.transitions, 2, 1).beyond.empty();
      pairs += !coactivation_beside_chance(two.together, 2, 1).beyond.empty();
      const TransitionFigures figures = transition_figures(two.transitions, two.load);
      likeliest +=
          likeliest_beside_chance(two.transitions, two.load, figures.likeliest, 2)->beside == BesideChance::more_skewed;
    }
    QVERIFY2(pairs <= 13, std::to_string(pairs).c_str());
    QCOMPARE(likeliest, 100);
  }

  void a_router_that_deals_in_turn_is_more_even_than_chance() {
    const std::vector<int64_t> dealt(8, 500);
    const LoadsBesideChance judged = EvenRouters(1).judge(dealt, 2);
    QVERIFY(judged.imbalance.beside == BesideChance::more_even && judged.gini.beside == BesideChance::more_even &&
            judged.entropy_bits.beside == BesideChance::more_even);
    QVERIFY(judged.entropy_bits.range.low < judged.entropy_bits.range.high && judged.entropy_bits.range.high < 3);
    QVERIFY(EvenRouters(1).judge(std::vector<int64_t>(8), 2).p_value == 1);
    QVERIFY(EvenRouters(1).judge(std::vector<int64_t>(4, 50), 4).imbalance.beside == BesideChance::within);
  }

  void drawn_choices_and_normal_loads_agree() {
    // At the border between both ways: 20 cells a branch.
    SkewedRouter router(16, 2);
    Engine random(11);
    const std::vector<int64_t> below = router.loads(random, 159), above = router.loads(random, 160);
    EvenRouters even(20);
    const LoadsBesideChance exact = even.judge(below, 2), normal = even.judge(above, 2);
    // Largest loads over the mean: they are whole numbers, of nearly equal means.
    const ChanceRange &a = exact.imbalance.range, &b = normal.imbalance.range;
    QVERIFY(std::abs((1 + a.high) / (1 + b.high) - 1) < .012 && std::abs((1 + a.low) / (1 + b.low) - 1) < .012);
    const ChanceRange &c = exact.gini.range, &d = normal.gini.range;
    QVERIFY(std::abs(c.high / d.high - 1) < .03 && std::abs(c.low / d.low - 1) < .05 &&
            std::abs(c.middle / d.middle - 1) < .02);
  }
};

STORMCELL_TEST(ChanceTest)

}  // namespace stormcell::testing

#include "chance_test.moc"
