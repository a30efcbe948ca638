// Counts that papers publish, on cells few enough to be counted by hand.
#include <cmath>
#include <vector>

#include "core/cell/decision.h"
#include "core/profile/agreement.h"
#include "core/profile/statistics.h"
#include "core/profile/vocabulary.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// The count of a pair; 0: it is not in the table.
int64_t count_in(const PairTable& table, int32_t from, int32_t to) {
  for (const PairCount& p : table.entries)
    if (p.from == from && p.to == to) return p.count;
  return 0;
}

}  // namespace

class PublishedCountsTest : public QObject {
  Q_OBJECT
 private slots:
  void rank_neighbours_are_k_minus_1_of_all_pairs() {
    // Two cells of four choices; the second one has a dropped choice, the third is padding.
    const std::vector<int32_t> choice = {3, 0, 2, 1, 0, dropped_from(1), 2, 3, 0, 1, 2, 3};
    const std::vector<uint8_t> mask = {1, 1, 0};
    const DecisionRecord decision{.choice = choice};
    PairCounter all(4, 4), neighbours(4, 4);
    add_coactivation({decision, 4}, mask, all);
    add_rank_neighbours({decision, 4}, mask, neighbours);
    const PairTable pairs = all.take(), next = neighbours.take();
    QCOMPARE(pairs.total(), int64_t{6 + 3});
    QCOMPARE(next.total(), int64_t{3 + 1});
    QCOMPARE(count_in(pairs, 0, 3), int64_t{2});
    QCOMPARE(count_in(next, 0, 3), int64_t{1});
    QCOMPARE(count_in(next, 2, 3), int64_t{1});  // of the second cell
    QCOMPARE(count_in(next, 0, 1), int64_t{0});  // its neighbour was dropped
  }

  void equal_ranks_are_k_of_k_times_k_pairs() {
    const std::vector<int32_t> from = {0, 1, 2, 3}, to = {4, 5, 5, 4};
    // The first router got rows 0 and 2 alone, the second one rows 2 and 1.
    const std::vector<int32_t> from_rows = {0, 2}, to_rows = {2, 1};
    const DecisionRecord a{.choice = from, .ancestor = from_rows}, b{.choice = to, .ancestor = to_rows};
    std::vector<int32_t> scratch;
    PairCounter all(6, 6), equal(6, 6);
    add_transitions({a, 2}, {b, 2}, {}, {}, scratch, all);
    add_equal_ranks({a, 2}, {b, 2}, {}, scratch, equal);
    const PairTable pairs = all.take(), ranks = equal.take();
    QCOMPARE(pairs.total(), int64_t{4});
    QCOMPARE(ranks.total(), int64_t{2});
    QVERIFY(count_in(ranks, 2, 4) == 1 && count_in(ranks, 3, 5) == 1 && count_in(pairs, 2, 5) == 1);
  }

  void vocabulary_counts_cells_of_known_tokens() {
    const std::vector<int32_t> choice = {0, 1, 0, 2, 1, 2, 0, 1, 2, kNoBranch}, tokens = {7, 7, 7, -1, 9};
    TokenBranches counts(3);
    counts.add({.choice = choice}, 2, tokens, {});
    QCOMPARE(counts.tokens(), int64_t{2});
    QCOMPARE(counts.cells(0), int64_t{3});
    const VocabularyFigures all = vocabulary_figures(counts, 1), frequent = vocabulary_figures(counts, 2);
    // Token 7 goes to each branch in two of its three cells, so the lowest has it; token 9 goes to branch 2.
    QVERIFY(std::abs(*all.specialization - (2. / 3 + 1) / 2) < 1e-12);
    QCOMPARE(all.branches[0].tokens, int64_t{1});
    QCOMPARE(all.branches[0].strongest[0].token, 7);
    QCOMPARE(all.branches[1].tokens, int64_t{0});
    QVERIFY(!all.branches[1].specialization);
    QCOMPARE(all.branches[2].strongest[0].cells, int64_t{1});
    QVERIFY(std::abs(*frequent.specialization - 2. / 3) < 1e-12);
    QCOMPARE(frequent.tokens_left_out, int64_t{1});
    QVERIFY(!vocabulary_figures(counts, 4).specialization);
  }

  void agreement_is_a_share_of_the_last_choices() {
    Agreement agreement(6);
    agreement.add(std::vector{0, 1}, std::vector{1, 0});                // equal as sets
    agreement.add(std::vector{2, 3}, std::vector{2, 4});                // the first ones are equal
    agreement.add(std::vector{dropped_from(5), 1}, std::vector{5, 0});  // a dropped choice was chosen
    agreement.add(std::vector{0, 1}, std::vector{kNoBranch, kNoBranch});
    QCOMPARE(agreement.cells(), int64_t{3});
    QVERIFY(std::abs(*agreement.share() - 4. / 6) < 1e-12);
    QVERIFY(std::abs(*agreement.first_share() - 2. / 3) < 1e-12);
    // Loads 1 2 1 1 0 1 and 2 1 1 0 1 1: (2 + 2 + 1 + 0 + 0 + 1) / 3 cells / 6 choices.
    QVERIFY(std::abs(*agreement.share_by_load() - 6. / 18) < 1e-12);
    QVERIFY(!Agreement(4).share() && !Agreement(4).first_share() && !Agreement(4).share_by_load());
  }
};

STORMCELL_TEST(PublishedCountsTest)

}  // namespace stormcell::testing

#include "published_counts_test.moc"
