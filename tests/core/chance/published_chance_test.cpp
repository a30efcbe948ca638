// Even recordings are seldom called beyond chance by figures that papers publish, and planted effects are found.
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "core/chance/even_shares.h"
#include "core/chance/even_vocabulary.h"
#include "core/profile/agreement.h"
#include "core/profile/statistics.h"
#include "core/profile/vocabulary.h"
#include "tests/core/chance/even_routers.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int kRecordingsDrawn = 1000, kBranches = 16, kOfCell = 2, kCells = 400;
constexpr double kMostFigures = .065;

bool is_beyond(const ChanceFigure& figure) { return figure.beside != BesideChance::within; }

/// Figures of one drawn recording: its cells have a label and a token that say nothing.
struct DrawnFigures {
  ChanceFigure agreement, share, bits, words;

  template <class Engine>
  DrawnFigures(Engine& random, EvenVocabulary& even) {
    SkewedRouter router(kBranches, kOfCell);
    Agreement same(kBranches);
    TokenBranches tokens(kBranches);
    std::vector<int64_t> table(int64_t{3} * kBranches);
    int64_t of_first = 0;
    for (int c = 0; c < kCells; ++c) {
      const std::vector<int32_t> earlier = router.draw(random), last = router.draw(random);
      same.add(earlier, last);
      // Frequent and rare tokens: 40 of 1 to 40 cells.
      const std::vector token = {static_cast<int32_t>(std::sqrt(static_cast<double>(random() % 1600)))};
      tokens.add({.choice = last}, kOfCell, token, {});
      for (const int32_t b : last) ++table[int64_t{c % 3} * kBranches + b], of_first += b == 0;
    }
    agreement = agreement_beside_chance({kCells, kOfCell, kOfCell, kBranches}, *same.share());
    share = branch_beside_uniform(of_first, kCells, kOfCell, kBranches);
    const double found = mutual_information_bits(table, 3, kBranches);
    bits = label_bits_beside_chance(int64_t{kCells} * kOfCell, 3, kBranches, kOfCell, found);
    const VocabularyFigures v = vocabulary_figures(tokens, 2);
    words = even.judge(v.tokens_with, *v.specialization);
  }
};

}  // namespace

class PublishedChanceTest : public QObject {
  Q_OBJECT
 private slots:
  void even_recordings_are_seldom_called() {
    Drawn<std::mt19937_64> random(38);
    EvenVocabulary even(kBranches, kOfCell);
    int agreement = 0, share = 0, bits = 0, words = 0;
    for (int r = 0; r < kRecordingsDrawn; ++r) {
      const DrawnFigures f(random, even);
      agreement += is_beyond(f.agreement), share += is_beyond(f.share);
      bits += is_beyond(f.bits), words += is_beyond(f.words);
    }
    const std::string text = "agreement " + std::to_string(agreement) + ", share " + std::to_string(share) + ", bits " +
                             std::to_string(bits) + ", words " + std::to_string(words);
    const int most = static_cast<int>(kMostFigures * kRecordingsDrawn);
    QVERIFY2(agreement <= most && share <= most && bits <= most && words <= most, text.c_str());
    // None of them is so wide that it could never be left.
    QVERIFY2(agreement > 0 && share > 0 && bits > 0 && words > 0, text.c_str());
  }

  void a_token_that_is_seen_once_is_special_at_any_router() {
    EvenVocabulary even(64, 8);
    const ChanceFigure once = even.judge({{1, 1000}}, 1);
    QVERIFY(once.range.low == 1 && once.range.high == 1 && once.beside == BesideChance::within);
    // Few cells give far more than the line k / branches, many cells hardly more.
    const ChanceFigure few = even.judge({{10, 1000}}, .4), many = even.judge({{100'000, 1000}}, .2);
    QVERIFY(few.range.middle > 2 * 8. / 64 && many.range.middle < 1.05 * 8. / 64);
    QVERIFY(many.beside == BesideChance::more_skewed);
  }

  void drawn_and_closed_forms_meet() {
    // 256 cells are drawn, 257 are not.
    EvenVocabulary even(16, 2);
    const ChanceFigure below = even.judge({{256, 5000}}, .2), above = even.judge({{257, 5000}}, .2);
    QVERIFY(std::abs(below.range.middle / above.range.middle - 1) < .01);
  }

  void what_was_planted_is_found() {
    QVERIFY(agreement_beside_chance({kCells, kOfCell, kOfCell, kBranches}, .25).beside == BesideChance::more_skewed);
    QVERIFY(agreement_beside_chance({kCells, kOfCell, kOfCell, kBranches}, .02).beside == BesideChance::more_even);
    QVERIFY(branch_beside_uniform(80, kCells, kOfCell, kBranches).beside == BesideChance::more_skewed);
    QVERIFY(branch_beside_uniform(20, kCells, kOfCell, kBranches).beside == BesideChance::more_even);
    QVERIFY(label_bits_beside_chance(800, 3, kBranches, kOfCell, .1).beside == BesideChance::more_skewed);
  }

  void what_cannot_vary_is_called_only_where_it_is_another() {
    // A cell that goes to every branch, and one label alone.
    QVERIFY(agreement_beside_chance({kCells, 4, 4, 4}, 1).beside == BesideChance::within);
    QVERIFY(branch_beside_uniform(kCells, kCells, 4, 4).beside == BesideChance::within);
    QVERIFY(label_bits_beside_chance(800, 1, kBranches, kOfCell, 0).beside == BesideChance::within);
    QVERIFY(agreement_beside_chance({0, 0, 0, 4}, 0).p_value == 1);
  }
};

STORMCELL_TEST(PublishedChanceTest)

}  // namespace stormcell::testing

#include "published_chance_test.moc"
