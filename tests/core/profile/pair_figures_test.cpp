// Which branch follows which, and which are chosen together: by hand.
#include "core/profile/pair_figures.h"

#include <cmath>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class PairFiguresTest : public QObject {
  Q_OBJECT
 private slots:
  void transitions_by_hand() {
    const PairTable pairs{3, 3, {{0, 0, 30}, {0, 1, 10}, {1, 1, 5}, {1, 2, 15}, {2, 0, 3}}};
    const std::vector<int64_t> load = {50, 20, 3}, came = cells_that_came(pairs, load, 1, true);
    QVERIFY((came == std::vector<int64_t>{40, 20, 3}));
    const TransitionFigures figures = transition_figures(pairs, came);
    // Too few cells came from branch 2.
    QCOMPARE(figures.strongest.size(), size_t{4});
    const BranchTransition &first = figures.strongest[0], &second = figures.strongest[1], &last = figures.strongest[3];
    QVERIFY(first.from == 0 && first.to == 0 && first.cells == 30 && first.came == 40 && first.probability == .75);
    QVERIFY(second.from == 1 && second.to == 2 && second.probability == .75);
    QVERIFY(last.from == 1 && last.to == 1 && last.probability == .25);
    QVERIFY(std::abs(first.by_chance - 40. * 33 / 63) < 1e-9 && std::abs(first.lift - 30 / (40. * 33 / 63)) < 1e-9);
    QCOMPARE(*figures.likeliest, (30. + 15) / 60);
    QCOMPARE(*figures.likeliest_by_load, 30. / 60);
    const TransitionFigures none = transition_figures(pairs, std::vector<int64_t>{19, 19, 3});
    QVERIFY(!none.likeliest && !none.likeliest_by_load && none.strongest.empty());
  }

  void a_transition_to_one_of_several_branches_goes_up_to_all_cells() {
    // 25 cells of branch 0 got branches 1 and 2.
    const PairTable pairs{2, 3, {{0, 1, 25}, {0, 2, 25}}}, together{3, 3, {{1, 2, 25}}};
    const std::vector<int64_t> load = {30, 0}, next = {0, 25, 25};
    QVERIFY(keeps_all_choices(together, next, 2));
    const std::vector<int64_t> came = cells_that_came(pairs, load, 2, true);
    QVERIFY((came == std::vector<int64_t>{25, 0}));
    const TransitionFigures figures = transition_figures(pairs, came);
    QVERIFY(figures.strongest[0].probability == 1 && figures.strongest[1].probability == 1);
    // One of them kept a single branch: pairs do not tell how many came.
    const PairTable fewer{3, 3, {{1, 2, 24}}};
    QVERIFY(!keeps_all_choices(fewer, std::vector<int64_t>{0, 25, 24}, 2));
    QVERIFY(cells_that_came(pairs, load, 2, false) == load);
  }

  void a_list_ends_with_the_strongest() {
    PairTable pairs{1, 15, {}};
    for (int32_t b = 0; b < 15; ++b) pairs.entries.push_back({0, b, 100 + b});
    const TransitionFigures figures = transition_figures(pairs, std::vector<int64_t>{pairs.total()});
    QCOMPARE(figures.strongest.size(), kStrongestPairs);
    QVERIFY(figures.strongest.front().to == 14 && figures.strongest.back().to == 5);
  }

  void branches_together_by_hand() {
    const PairTable pairs{4, 4, {{0, 1, 40}, {0, 2, 20}, {1, 3, 20}, {2, 3, 40}}};
    const std::vector<int64_t> load = {60, 60, 60, 60};
    QVERIFY(keeps_all_choices(pairs, load, 2));
    // By chance each of the six pairs has 120 / 6; two are at it.
    const std::vector<BranchesTogether> strongest = strongest_together(pairs);
    QCOMPARE(strongest.size(), size_t{2});
    QVERIFY(strongest[0].a == 0 && strongest[0].b == 1 && strongest[1].a == 2 && strongest[1].b == 3);
    QVERIFY(std::abs(strongest[0].by_chance - 20) < 1e-9 && std::abs(strongest[0].lift - 2) < 1e-9);
    // Uneven loads: 60 * 60 * 36 / 120 * (1 / 60 + 1 / 84).
    const PairTable uneven{3, 3, {{0, 1, 36}, {0, 2, 24}}};
    const std::vector<BranchesTogether> two = strongest_together(uneven);
    QVERIFY(two.size() == 2 && std::abs(two[1].by_chance - (18. + 1080. / 84)) < 1e-9);
  }

  void what_cannot_be_otherwise_is_not_above_chance() {
    QVERIFY(strongest_together({2, 2, {{0, 1, 50}}}).empty());
    const std::vector<BranchesTogether> others = strongest_together({4, 4, {{0, 1, 19}, {2, 3, 900}}});
    QVERIFY(others.size() == 1 && others[0].a == 2);  // of the first pair too few cells
  }
};

STORMCELL_TEST(PairFiguresTest)

}  // namespace stormcell::testing

#include "pair_figures_test.moc"
