#include "core/cell/margins.h"

#include <cmath>
#include <vector>

#include "core/cell/decision.h"
#include "tests/testing/testing.h"

namespace stormcell {

class MarginsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_margin_is_recorded_or_the_distance_of_the_scores_at_the_cut() {
    const std::vector<int32_t> choice{2, 0, 1, dropped_from(3)};
    const std::vector<float> scores{.5f, .25f, .75f, .125f, 0, 1, .5f, 2}, recorded{4, 8};
    DecisionRecord decision;
    decision.choice = choice, decision.scores = scores;
    QCOMPARE(margin_of_cell(decision, 0, 4, 2), .25f);
    QCOMPARE(margin_of_cell(decision, 1, 4, 2), .5f);  // the dropped branch was chosen, too
    decision.margin = recorded;
    QCOMPARE(margin_of_cell(decision, 1, 4, 2), 8.0f);
  }

  void equal_scores_at_the_cut_have_no_distance() {
    const std::vector<int32_t> choice{1};
    const std::vector<float> scores{.5f, .5f, .25f};
    DecisionRecord decision;
    decision.choice = choice, decision.scores = scores;
    QCOMPARE(margin_of_cell(decision, 0, 3, 1), 0.0f);
  }

  /// As with the selection bias of DeepSeek-V3: branch 1 is chosen over a larger score.
  void scores_that_something_else_overruled_tell_no_margin() {
    const std::vector<int32_t> choice{1};
    const std::vector<float> scores{.5f, .25f};
    DecisionRecord decision;
    decision.choice = choice, decision.scores = scores;
    QVERIFY(std::isnan(margin_of_cell(decision, 0, 2, 1)));
    MarginBins bins;
    count_margins(decision, 2, 1, {}, bins);
    QCOMPARE(bins.total(), int64_t{0});
  }

  void scores_of_other_columns_tell_no_margin() {
    const std::vector<int32_t> choice{1};
    const std::vector<float> scores{.5f};
    DecisionRecord decision;
    decision.choice = choice, decision.scores = scores, decision.score_columns = 1;
    QVERIFY(std::isnan(margin_of_cell(decision, 0, 2, 1)));
  }
};

STORMCELL_TEST(MarginsTest)

}  // namespace stormcell

#include "margins_test.moc"
