// Decisions made by hand: what is right passes, what is wrong does not, whatever it hides behind.
#include "tests/core/verification/routing_judge_cases.h"

#include <algorithm>
#include <cmath>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class RoutingJudgeTest : public QObject {
  Q_OBJECT

 private slots:
  // Right decisions.

  void two_of_a_top_k_swapped_in_rank_are_no_flip() {
    std::vector<int32_t> ranked, swapped;
    for (int i = 0; i < 20; ++i) ranked.insert(ranked.end(), {0, 3}), swapped.insert(swapped.end(), {3, 0});
    JudgedDecision r = decision("moe", top(2), 4, ranked), f = decision("moe", top(2), 4, swapped);
    for (size_t i = 0; i < r.weight.size(); ++i)
      r.weight[i] = i % 2 == 0 ? 0.5f + kError : 0.5f, f.weight[i] = r.weight[i ^ 1];
    JudgedDecision p = replayed(r);
    p.free_choice = swapped;
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(v.reasons.empty(), qPrintable(reasons_of(v)));
    QCOMPARE(v.flips, int64_t{0});
    QCOMPARE(v.consequences, int64_t{0});
  }

  void a_near_tie_is_explained_by_its_own_margin() {
    JudgedDecision r = decision("moe", top(1), 3, std::vector<int32_t>(30, 1)), p = replayed(r), f = r;
    flip(r, p, 7, 2);
    f.choice[7] = 2;
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(v.reasons.empty(), qPrintable(reasons_of(v)));
    QCOMPARE(v.flips, int64_t{1});
    QCOMPARE(v.explained_flips, int64_t{1});
    QCOMPARE(v.listed[0].cell, int64_t{7});
    QCOMPARE(v.listed[0].reference, 1);
    QCOMPARE(v.listed[0].ours, 2);
  }

  void the_one_cell_of_a_small_batch_may_lie_at_a_tie() {
    // Nothing else was measured: rounding is taken to be a unit of the format.
    JudgedDecision r = decision("moe", top(1), 2, {0});
    add_scores(r);
    r.scores = {1, 1 - 1e-6f};
    JudgedDecision p = replayed(r), f = r;
    flip(r, p, 0, 1);
    f.choice[0] = 1;
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(v.reasons.empty(), qPrintable(reasons_of(v)));
    QCOMPARE(v.explained_flips, int64_t{1});
  }

  // Wrong decisions.

  void scores_off_by_a_step_of_bf16_are_found_though_they_flip_nothing() {
    JudgedDecision r = decision("moe", top(1), 4, std::vector<int32_t>(50, 2));
    add_scores(r);
    JudgedDecision p = replayed(r);
    for (size_t c = 0; c < p.margin.size(); ++c) p.margin[c] *= 1 + (c % 2 ? 0x1p-8f : -0x1p-8f);
    const Verification v = judged({r}, {p}, {r});
    QVERIFY2(reasons_of(v).contains("the scores of router moe differ"), qPrintable(reasons_of(v)));
  }

  // Two scores share the error of their margin, of one between a score and a threshold the score has all of
  // it.
  void a_score_is_held_to_the_tolerance_and_not_its_margin_data() {
    QTest::addColumn<Protocol>("protocol");
    QTest::addColumn<int>("scores");
    const auto of_kind = [](ProtocolKind kind) {
      Protocol p;
      p.kind = kind, p.threshold = 0.5f, p.residual = 1;
      return p;
    };
    QTest::newRow("top-k") << top(1) << 2;
    QTest::newRow("groups") << of_kind(ProtocolKind::sigmoid_groups) << 2;
    QTest::newRow("threshold") << of_kind(ProtocolKind::threshold) << 1;
    QTest::newRow("sum") << of_kind(ProtocolKind::residual_threshold) << 1;
    QTest::newRow("exit") << of_kind(ProtocolKind::exit_threshold) << 1;
  }
  void a_score_is_held_to_the_tolerance_and_not_its_margin() {
    QFETCH(const Protocol, protocol);
    QFETCH(const int, scores);
    std::vector<int32_t> choice;
    for (int c = 0; c < 20; ++c) {
      choice.push_back(0);
      if (fan_out_of(protocol, 2) == 2) choice.push_back(kNoBranch);
    }
    JudgedDecision r = decision("moe", protocol, 2, choice);
    r.score_columns = 2;
    for (int c = 0; c < 20; ++c) r.scores.insert(r.scores.end(), {1.0f, 0.0f});
    const auto reasons_with = [&](float error) {
      JudgedDecision p = replayed(r);
      p.margin.assign(p.margin.size(), kFar + error * static_cast<float>(scores));
      return reasons_of(judged({r}, {p}, {r}));
    };
    QCOMPARE(reasons_with(0.75e-4f), QString());
    QVERIFY2(reasons_with(1.5e-4f).contains(
                 "the scores of router moe differ by 0.00015 of their size, the tolerance is 0.0001"),
             qPrintable(reasons_with(1.5e-4f)));
  }

  void a_large_error_of_some_cells_does_not_explain_flips_that_need_a_larger_one() {
    JudgedDecision r = decision("moe", top(1), 4, std::vector<int32_t>(50, 2)), p = replayed(r), f = r;
    add_scores(r);
    p.free_choice[9] = f.choice[9] = 0;
    const Verification v = judged({r}, {p}, {f});
    QCOMPARE(v.flips - v.explained_flips, int64_t{1});
  }

  void a_branch_far_below_the_cut_is_not_explained_by_a_near_tie_at_it() {
    // Branches 1 and 2 are nearly equal, branch 3 is far below, and the plan chose that one.
    JudgedDecision r = decision("moe", top(1), 4, std::vector<int32_t>(50, 1));
    add_scores(r);
    r.scores[4 * 5 + 2] = r.scores[4 * 5 + 1] - kNear;
    JudgedDecision p = replayed(r), f = r;
    flip(r, p, 5, 3);
    f.choice[5] = 3;
    const Verification v = judged({r}, {p}, {f});
    QCOMPARE(v.flips - v.explained_flips, int64_t{1});
    JudgedDecision tie = p, free_tie = f;
    tie.free_choice[5] = free_tie.choice[5] = 2;
    QVERIFY(judged({r}, {tie}, {free_tie}).reasons.empty());
  }

  void weights_that_went_to_the_other_branch_are_found() {
    std::vector<int32_t> ranked;
    for (int i = 0; i < 20; ++i) ranked.insert(ranked.end(), {0, 3});
    JudgedDecision r = decision("moe", top(2), 4, ranked), f = r;
    for (size_t i = 0; i < r.weight.size(); ++i) r.weight[i] = i % 2 == 0 ? 0.7f : 0.3f, f.weight[i] = r.weight[i];
    JudgedDecision p = replayed(r);
    QVERIFY(judged({r}, {p}, {f}).reasons.empty());
    std::swap(f.choice[6], f.choice[7]);  // the order is free, but each branch has now the other's weight
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(reasons_of(v).contains("the weights of router moe differ"), qPrintable(reasons_of(v)));
  }

  // A score that can never win, or never lose, is no measure of the others. All cells have the same scores.
  void a_masked_branch_is_no_measure_of_the_other_scores_data() {
    using Ints = std::vector<int32_t>;
    using Reals = std::vector<float>;
    QTest::addColumn<Protocol>("protocol");
    QTest::addColumn<Ints>("choice");
    QTest::addColumn<Reals>("scores");
    QTest::addColumn<Reals>("bias");
    QTest::addColumn<float>("margin");
    QTest::addColumn<int>("from");  // the flip, over the margin or more
    QTest::addColumn<int>("to");
    Protocol groups, threshold, switches = capacity(0);
    groups.kind = ProtocolKind::sigmoid_groups;
    groups.k = 1;
    threshold.kind = ProtocolKind::threshold;
    threshold.threshold = 0.5f;
    QTest::newRow("top-k, below all") << top(2) << Ints{1, 2} << Reals{0.2f, 1.5f, 1, -1e9f} << Reals{} << 0.8f << 2
                                      << 0;
    QTest::newRow("top-k, minus infinity")
        << top(2) << Ints{1, 2} << Reals{0.2f, 1.5f, 1, -INFINITY} << Reals{} << 0.8f << 2 << 0;
    QTest::newRow("top-k, above all") << top(2) << Ints{3, 1} << Reals{0.2f, 1.5f, 1, 1e9f} << Reals{} << 0.5f << 1
                                      << 2;
    QTest::newRow("switch, below all") << switches << Ints{1} << Reals{0.2f, 1.5f, 1, -1e9f} << Reals{} << 0.5f << 1
                                       << 2;
    QTest::newRow("groups, below all") << groups << Ints{0} << Reals{2, 1, 0} << Reals{0, 0, -1e9f} << 0.14974f << 0
                                       << 1;
    QTest::newRow("threshold, below") << threshold << Ints{0, kNoBranch, kNoBranch} << Reals{0.9f, 0.2f, -1e9f}
                                      << Reals{} << 0.3f << 0 << 1;
    QTest::newRow("threshold, above") << threshold << Ints{2, 0, kNoBranch} << Reals{0.9f, 0.2f, 1e9f} << Reals{}
                                      << 0.3f << 0 << 1;
  }
  void a_masked_branch_is_no_measure_of_the_other_scores() {
    QFETCH(const Protocol, protocol);
    QFETCH(const std::vector<int32_t>, choice);
    QFETCH(const std::vector<float>, scores);
    QFETCH(const std::vector<float>, bias);
    QFETCH(const float, margin);
    QFETCH(const int, from);
    QFETCH(const int, to);
    const auto cells_of = [&](int64_t cells) {
      std::vector<int32_t> choices;
      std::vector<float> all;
      for (int64_t c = 0; c < cells; ++c) {
        choices.insert(choices.end(), choice.begin(), choice.end());
        all.insert(all.end(), scores.begin(), scores.end());
      }
      JudgedDecision r = decision("moe", protocol, static_cast<int32_t>(scores.size()), choices);
      r.score_columns = static_cast<int32_t>(scores.size());
      r.scores = all, r.bias = bias;
      r.margin.assign(r.margin.size(), margin);
      return r;
    };
    const JudgedDecision r = cells_of(50);
    JudgedDecision wrong = replayed(r);
    QVERIFY2(judged({r}, {wrong}, {r}).reasons.empty(), qPrintable(reasons_of(judged({r}, {wrong}, {r}))));
    for (float& m : wrong.margin) m *= 1.02f;
    QVERIFY2(reasons_of(judged({r}, {wrong}, {r})).contains("the scores of router moe differ"),
             qPrintable(reasons_of(judged({r}, {wrong}, {r}))));
    // Few cells, of which nothing is measured but what rounding is taken to be: a flip over the whole margin.
    const JudgedDecision few = cells_of(3);
    JudgedDecision flipped = replayed(few);
    std::replace(flipped.free_choice.begin(), flipped.free_choice.begin() + static_cast<int64_t>(choice.size()), from,
                 to);
    JudgedDecision free = few;
    free.choice = flipped.free_choice;
    QCOMPARE(judged({few}, {flipped}, {free}).flips, int64_t{1});
    QCOMPARE(judged({few}, {flipped}, {free}).explained_flips, int64_t{0});
  }

  void cells_whose_branch_is_forced_do_not_explain_the_others() {
    // Branch 1 of every third cell is forced by a score of 1e9, where f32 knows steps of 64.
    JudgedDecision r = decision("moe", top(1), 3, std::vector<int32_t>(40, 1));
    r.score_columns = 3;
    for (size_t c = 0; c < 40; ++c) {
      const bool forced = c % 3 == 0;
      r.scores.insert(r.scores.end(), {0.5f, forced ? 1e9f : 1, 0});
      r.margin[c] = forced ? 1e9f : 0.5f;
    }
    JudgedDecision p = replayed(r), f = r;
    for (size_t c = 0; c < 40; c += 3) p.margin[c] += 64;
    QVERIFY2(judged({r}, {p}, {f}).reasons.empty(), qPrintable(reasons_of(judged({r}, {p}, {f}))));
    p.free_choice[7] = f.choice[7] = 0;
    QCOMPARE(judged({r}, {p}, {f}).flips - judged({r}, {p}, {f}).explained_flips, int64_t{1});
    // Beside a baseline, whose scores nobody recorded.
    r.scores.clear();
    QCOMPARE(judged({r}, {p}, {f}).flips - judged({r}, {p}, {f}).explained_flips, int64_t{1});
    JudgedDecision wrong = replayed(r);
    for (size_t c = 0; c < 40; ++c)
      if (c % 3 != 0) wrong.margin[c] *= 1.02f;
    QVERIFY2(reasons_of(judged({r}, {wrong}, {r})).contains("the scores of router moe differ"),
             qPrintable(reasons_of(judged({r}, {wrong}, {r}))));
  }

  void choices_that_differ_are_counted_by_branch() {
    const JudgedDecision r = decision("moe", top(2), 4, {0, 1, 1, 2, 2, 3}),
                         alone = decision("other", top(1), 2, {0, 1, kNoBranch});
    JudgedDecision o = r;
    o.choice = {1, 0, 1, 3, 0, 1};  // the same two, one other, two others
    const ChoiceCount count = count_choices({r, alone}, {o});
    QCOMPARE(count.choices, int64_t{8});
    QCOMPARE(count.elsewhere, int64_t{5});
    QCOMPARE(count_choices({r}, {r}).elsewhere, int64_t{0});
  }

  void equal_scores_that_are_broken_the_other_way_are_found() {
    // Nothing is rounded (all margins agree), so the lowest index wins.
    JudgedDecision r = decision("moe", top(1), 2, std::vector<int32_t>(30, 0)), p = r, f = r;
    p.free_choice = p.choice;
    r.margin[3] = p.margin[3] = 0;
    p.free_choice[3] = f.choice[3] = 1;
    QCOMPARE(judged({r}, {p}, {f}).explained_flips, int64_t{0});
  }

  void a_plan_that_does_not_replay_is_found() {
    const JudgedDecision r = decision("moe", top(1), 2, alternating(30));
    JudgedDecision p = replayed(r);
    p.choice[0] = 1;
    QVERIFY(reasons_of(judged({r}, {p}, {r})).contains("did not replay"));
    QVERIFY(reasons_of(judged({r}, {}, {r})).contains("did not decide"));
  }

  // Margins of single flips.

  void groups_are_overtaken_by_their_scores() {
    Protocol p;
    p.kind = ProtocolKind::sigmoid_groups;
    p.k = 1, p.groups = 2, p.groups_kept = 1;
    JudgedDecision r = decision("moe", p, 4, {0});
    r.score_columns = 4;
    r.scores = {2, -3, 1.9f, -3 + 1e-6f};  // sigmoid: 0.8808, 0.0474 and 0.8699, 0.0474
    const double margin = flip_margin(r, 0, {{0}, {2}});
    QVERIFY(std::fabs(margin - 0.0109 / 2) < 2e-4 || std::fabs(margin - 0.0109) < 2e-4);
    r.scores = {2, -3, 2 - 1e-6f, -3};
    QVERIFY(flip_margin(r, 0, {{0}, {2}}) < 1e-6);
    QVERIFY(flip_margin(r, 0, {{0}, {1}}) > 0.5);  // within the group by far
  }

  void a_threshold_is_crossed_by_each_branch_that_changed() {
    Protocol p;
    p.kind = ProtocolKind::threshold;
    p.threshold = 0.5f;
    p.residual = 0;
    JudgedDecision r = decision("moe", p, 3, {1, kNoBranch, kNoBranch});
    r.score_columns = 3;
    r.scores = {0.1f, 0.5001f, 0.2f};
    // Branch 1 falls below and the residual stands in for it: only branch 1 crossed.
    QVERIFY(std::fabs(flip_margin(r, 0, {{1}, {0}}) - 1e-4) < 1e-6);
    QVERIFY(std::fabs(flip_margin(r, 0, {{}, {2}}) - 0.3) < 1e-6);
  }
};

STORMCELL_TEST(RoutingJudgeTest)

}  // namespace stormcell::testing

#include "routing_judge_test.moc"
