// Decisions made by hand: what is right passes, what is wrong does not, whatever it hides behind.
#include "core/experiment/routing_judge.h"

#include <algorithm>
#include <cmath>

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr float kNear = 2e-6f, kError = 1e-6f, kFar = 0.5f;

Protocol top(int32_t k) {
  Protocol p;
  p.k = k;
  return p;
}
Protocol exit_rule() {
  Protocol p;
  p.kind = ProtocolKind::exit_threshold;
  p.residual = 0;
  return p;
}
Protocol capacity(int32_t most) {
  Protocol p;
  p.kind = ProtocolKind::switch_top1;
  p.capacity = most;
  return p;
}

/// A router over `cells` dense cells: cell c takes `choice`, by far.
JudgedDecision decision(const std::string& router, const Protocol& protocol, int32_t branches, std::vector<int32_t> choice) {
  JudgedDecision d;
  d.router = router;
  d.protocol = protocol;
  const int32_t k = protocol.fan_out(branches);
  d.shape = {static_cast<int64_t>(choice.size()) / k, k, branches};
  d.weight.assign(choice.size(), 0.5f);
  d.margin.assign(static_cast<size_t>(d.shape.cells), kFar);
  d.choice = std::move(choice);
  for (int64_t c = 0; c < d.shape.cells; ++c) d.place.push_back(static_cast<int32_t>(c));
  return d;
}

/// A router over those cells that `above` sends to its branch 1.
JudgedDecision below(const JudgedDecision& above, const std::string& router, const Protocol& protocol, std::vector<int32_t> choice) {
  JudgedDecision d = decision(router, protocol, 2, std::move(choice));
  d.above = above.above;
  d.above.push_back(above.router);
  d.place.clear();
  for (int64_t c = 0; c < above.shape.cells; ++c) {
    if (above.choice[size_t(c)] != 1) continue;
    d.place.insert(d.place.end(), above.place.begin() + c * int64_t(above.depth()), above.place.begin() + (c + 1) * int64_t(above.depth()));
    d.place.push_back(1);
  }
  return d;
}

/// Scores that are what the choices say: the chosen ones `kFar` above the others, in their order.
void add_scores(JudgedDecision& d) {
  d.score_columns = d.shape.branches;
  d.scores.assign(static_cast<size_t>(d.shape.cells * d.shape.branches), 0);
  for (int64_t i = 0; i < d.shape.slot_count(); ++i) {
    const int32_t choice = d.choice[size_t(i)], b = is_dropped(choice) ? ~choice : choice;
    d.scores[size_t(i / d.shape.fan_out * d.shape.branches + b)] = kFar * float(1 + d.shape.fan_out - i % d.shape.fan_out);
  }
}

/// The same with the reference's decisions replayed, every margin off by rounding.
JudgedDecision replayed(const JudgedDecision& d) {
  JudgedDecision p = d;
  p.scores.clear();
  p.free_choice = p.choice;
  for (float& m : p.margin) m += kError;
  return p;
}

/// Cell `c` of the reference lies at a near tie and the plan would choose otherwise.
void flip(JudgedDecision& reference, JudgedDecision& ours, int64_t c, int32_t branch) {
  reference.margin[size_t(c)] = kNear;
  ours.margin[size_t(c)] = kNear;
  ours.free_choice[size_t(c)] = branch;
}

using Decisions = std::vector<JudgedDecision>;

Verification judged(const Decisions& reference, const Decisions& replay, const Decisions& free) {
  RoutingJudge judge(Arithmetic::f32);
  judge.add(0, reference, replay, &free);
  Verification v;
  judge.judge(v);
  return v;
}

QString said(const Verification& v) {
  QString text;
  for (const std::string& reason : v.reasons) text += QString::fromStdString(reason) + "; ";
  return text;
}

std::vector<int32_t> alternating(int64_t n) {
  std::vector<int32_t> choice;
  for (int64_t i = 0; i < n; ++i) choice.push_back(static_cast<int32_t>(i % 2));
  return choice;
}

}  // namespace

class RoutingJudgeTest : public QObject {
  Q_OBJECT

 private slots:
  // What is right.

  void two_of_a_top_k_swapped_in_rank_are_no_flip() {
    std::vector<int32_t> ranked, swapped;
    for (int i = 0; i < 20; ++i) ranked.insert(ranked.end(), {0, 3}), swapped.insert(swapped.end(), {3, 0});
    JudgedDecision r = decision("moe", top(2), 4, ranked), f = decision("moe", top(2), 4, swapped);
    for (size_t i = 0; i < r.weight.size(); ++i) r.weight[i] = i % 2 == 0 ? 0.5f + kError : 0.5f, f.weight[i] = r.weight[i ^ 1];
    JudgedDecision p = replayed(r);
    p.free_choice = swapped;
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(v.reasons.empty(), qPrintable(said(v)));
    QCOMPARE(v.flips, int64_t{0});
    QCOMPARE(v.consequences, int64_t{0});
  }

  void a_near_tie_is_explained_by_its_own_margin() {
    JudgedDecision r = decision("moe", top(1), 3, std::vector<int32_t>(30, 1)), p = replayed(r), f = r;
    flip(r, p, 7, 2);
    f.choice[7] = 2;
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(v.reasons.empty(), qPrintable(said(v)));
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
    QVERIFY2(v.reasons.empty(), qPrintable(said(v)));
    QCOMPARE(v.explained_flips, int64_t{1});
  }

  void drops_that_follow_an_explained_flip_are_right() {
    // One parent of 20 cells, capacity 10 a branch. Cell 0 goes to branch 1 for branch 0: there, the last cell no longer fits.
    std::vector<int32_t> choice = alternating(20);
    JudgedDecision r = decision("moe", capacity(10), 2, choice), p = replayed(r), f = r;
    flip(r, p, 0, 1);
    p.free_choice[19] = dropped_from(1);
    f.choice = p.free_choice;
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(v.reasons.empty(), qPrintable(said(v)));
    QCOMPARE(v.flips, int64_t{1});
    QCOMPARE(v.consequences, int64_t{1});  // the drop
    QVERIFY(v.listed[1].follows && v.listed[1].cell == 19);
  }

  void cells_that_one_side_alone_has_are_consequences_of_the_flip_above() {
    // Cell 1 leaves early instead of going on: every nested row behind it is another cell, the last is missing.
    JudgedDecision outer = decision("exit.0", exit_rule(), 2, alternating(40)), p_outer = replayed(outer), f_outer = outer;
    flip(outer, p_outer, 1, 0);
    f_outer.choice[1] = 0;
    std::vector<int32_t> inner_choice = alternating(20);
    JudgedDecision inner = below(outer, "exit.1", exit_rule(), inner_choice), p_inner = replayed(inner);
    inner.together = p_inner.together = 1;
    inner_choice.erase(inner_choice.begin());
    const JudgedDecision f_inner = below(f_outer, "exit.1", exit_rule(), inner_choice);
    const Verification v = judged({outer, inner}, {p_outer, p_inner}, {f_outer, f_inner});
    QVERIFY2(v.reasons.empty(), qPrintable(said(v)));
    QCOMPARE(v.flips, int64_t{1});
    QCOMPARE(v.consequences, int64_t{1});
    QVERIFY(v.listed[1].follows && v.listed[1].cell == 1 && v.listed[1].router == "exit.1");
    QCOMPARE(v.listed[1].above, std::string("exit.0=1"));
  }

  void what_decides_otherwise_behind_a_flip_is_shown_and_not_judged_by_its_margin() {
    JudgedDecision first = decision("layer.0", top(1), 2, alternating(30)), p_first = replayed(first), f_first = first;
    flip(first, p_first, 4, 1);
    f_first.choice[4] = 1;
    const JudgedDecision second = decision("layer.1", top(1), 2, alternating(30));
    JudgedDecision f_second = second;
    f_second.choice[4] = 1;  // its margin is large, but its input is another
    const Verification v = judged({first, second}, {p_first, replayed(second)}, {f_first, f_second});
    QVERIFY2(v.reasons.empty(), qPrintable(said(v)));
    QCOMPARE(v.flips, int64_t{1});
    QCOMPARE(v.consequences, int64_t{1});
    QCOMPARE(QString::fromStdString(flips_text(v)), QString("1 routing choice differs, a near tie; 1 more follows from that"));
  }

  void a_repeat_that_ends_a_turn_earlier_behind_a_flip_is_a_consequence() {
    JudgedDecision turn = decision("loop.exit", exit_rule(), 2, alternating(20)), p_turn = replayed(turn), f_turn = turn;
    JudgedDecision last = turn;
    last.execution = 1;
    flip(turn, p_turn, 3, 0);
    f_turn.choice[3] = 0;
    const Verification v = judged({turn, last}, {p_turn, replayed(last)}, {f_turn});
    QVERIFY2(v.reasons.empty(), qPrintable(said(v)));
    QCOMPARE(v.consequences, int64_t{20});
  }

  // What is wrong.

  void one_nested_exit_flipped_behind_an_explained_flip_is_found() {
    JudgedDecision outer = decision("exit.0", exit_rule(), 2, alternating(40)), p_outer = replayed(outer), f_outer = outer;
    flip(outer, p_outer, 1, 0);
    f_outer.choice[1] = 0;
    std::vector<int32_t> inner_choice = alternating(20);
    JudgedDecision inner = below(outer, "exit.1", exit_rule(), inner_choice), p_inner = replayed(inner);
    p_inner.free_choice[12] ^= 1;  // by far no tie
    inner_choice[12] ^= 1;
    inner_choice.erase(inner_choice.begin());
    const Verification v = judged({outer, inner}, {p_outer, p_inner}, {f_outer, below(f_outer, "exit.1", exit_rule(), inner_choice)});
    QCOMPARE(v.flips, int64_t{2});
    QCOMPARE(v.explained_flips, int64_t{1});
    QVERIFY2(said(v).contains("1 choice of router exit.1 differs without a near tie"), qPrintable(said(v)));
    QVERIFY(!v.listed[0].explained && v.listed[0].router == "exit.1" && v.listed[0].cell == 25);
  }

  void scores_off_by_a_step_of_bf16_are_found_though_they_flip_nothing() {
    JudgedDecision r = decision("moe", top(1), 4, std::vector<int32_t>(50, 2));
    add_scores(r);
    JudgedDecision p = replayed(r);
    for (size_t c = 0; c < p.margin.size(); ++c) p.margin[c] *= 1 + (c % 2 ? 0x1p-8f : -0x1p-8f);
    const Verification v = judged({r}, {p}, {r});
    QVERIFY2(said(v).contains("the scores of router moe differ"), qPrintable(said(v)));
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
    QVERIFY2(said(v).contains("the weights of router moe differ"), qPrintable(said(v)));
  }

  void a_drop_too_many_and_one_too_few_are_found() {
    std::vector<int32_t> full(12, 0);
    for (size_t i = 10; i < 12; ++i) full[i] = dropped_from(0);
    const JudgedDecision r = decision("moe", capacity(10), 2, full), p = replayed(r);
    QVERIFY(judged({r}, {p}, {r}).reasons.empty());
    JudgedDecision more = r, fewer = r;
    more.choice[3] = dropped_from(0);
    fewer.choice[11] = 0;
    QVERIFY2(said(judged({r}, {p}, {more})).contains("not follow its capacity"), "one too many");
    QVERIFY2(said(judged({r}, {p}, {fewer})).contains("not follow its capacity"), "one too few");
  }

  void drops_that_differ_without_a_cause_are_found_though_each_side_keeps_the_rule() {
    // Two parents of ten cells, five places a branch. Cells of the plan may stand in another order before the capacity.
    std::vector<int32_t> kept_first(20, 0), dropped_first(20, 0);
    for (size_t i = 0; i < 20; ++i) (i % 10 < 5 ? dropped_first : kept_first)[i] = dropped_from(0);
    JudgedDecision r = decision("moe", capacity(5), 2, kept_first), f = r, p = replayed(r);
    r.per_parent = f.per_parent = p.per_parent = 10;
    QVERIFY(judged({r}, {p}, {f}).reasons.empty());
    QCOMPARE(judged({r}, {p}, {f}).consequences, int64_t{0});
    const auto differs = [](const Verification& v) { return said(v).contains("drops of router moe differ from the reference's"); };
    f.choice[3] = dropped_from(0), f.choice[5] = 0;
    QVERIFY(differs(judged({r}, {p}, {f})));
    JudgedDecision p_other = p;
    p_other.free_choice = f.choice;
    QVERIFY(differs(judged({r}, {p_other}, {r})));
    // A flip of the other parent's cells does not explain it, one of the same parent's does.
    const auto with_flip_of = [&](int64_t cell) {
      JudgedDecision reference = r, ours = p, free = f;
      flip(reference, ours, cell, 1);
      free.choice[size_t(cell)] = 1;
      return judged({reference}, {ours}, {free});
    };
    QVERIFY(differs(with_flip_of(12)));
    QVERIFY(!differs(with_flip_of(2)));
  }

  void places_by_priority_may_go_to_the_other_of_two_cells_of_nearly_equal_confidence() {
    Protocol p;
    p.kind = ProtocolKind::batch_prioritized;
    p.capacity_factor = 1;  // 20 cells, two branches: ten a branch
    std::vector<int32_t> choice(20, 0);
    for (size_t i = 10; i < 20; ++i) choice[i] = dropped_from(0);
    JudgedDecision r = decision("moe", p, 2, choice);
    for (size_t i = 0; i < 20; ++i) r.weight[i] = 0.95f - 0.01f * float(i);
    r.weight[10] = r.weight[9] - kError;
    JudgedDecision ours = replayed(r), free = r;
    std::swap(ours.free_choice[9], ours.free_choice[10]), std::swap(free.choice[9], free.choice[10]);
    std::swap(free.weight[9], free.weight[10]);
    const Verification near = judged({r}, {ours}, {free});
    QVERIFY2(near.reasons.empty(), qPrintable(said(near)));
    QCOMPARE(near.explained_flips, int64_t{2});
    ours = replayed(r), free = r;
    std::swap(ours.free_choice[3], ours.free_choice[14]), std::swap(free.choice[3], free.choice[14]);
    std::swap(free.weight[3], free.weight[14]);
    QVERIFY(said(judged({r}, {ours}, {r})).contains("2 drops of router moe differ from the reference's"));
    QVERIFY(said(judged({r}, {replayed(r)}, {free})).contains("2 drops of router moe differ from the reference's"));
  }

  void the_most_confident_cells_are_served_first() {
    Protocol p;
    p.kind = ProtocolKind::batch_prioritized;
    p.capacity_factor = 1;  // four cells, two branches: two a branch
    JudgedDecision d = decision("moe", p, 2, {0, 0, dropped_from(0), 1});
    d.weight = {0.9f, 0.8f, 0.7f, 0.6f};
    QCOMPARE(wrong_drops(d, d.choice, &d.weight), int64_t{0});
    std::swap(d.weight[1], d.weight[2]);
    QVERIFY(wrong_drops(d, d.choice, &d.weight) > 0);
    QCOMPARE(wrong_drops(d, d.choice, nullptr), int64_t{0});  // unknown weights: only the number counts
    d.choice[2] = 0;
    QVERIFY(wrong_drops(d, d.choice, nullptr) > 0);
  }

  void a_cell_follows_only_from_flips_that_its_inputs_depend_on() {
    // Cell 4 flips at a near tie; further on cell 5 decides otherwise, though no router mixes cells. Within sequences of ten it may.
    JudgedDecision first = decision("layer.0", top(1), 2, alternating(30)), p_first = replayed(first), f_first = first;
    flip(first, p_first, 4, 1);
    f_first.choice[4] = 1;
    JudgedDecision second = decision("layer.1", top(1), 2, alternating(30)), f_second = second;
    f_second.choice[5] ^= 1;
    const auto judge_with = [&](int64_t together) {
      JudgedDecision r = second;
      r.together = together;
      return judged({first, r}, {p_first, replayed(r)}, {f_first, f_second});
    };
    QCOMPARE(judge_with(1).flips - judge_with(1).explained_flips, int64_t{1});
    QVERIFY2(judge_with(10).reasons.empty(), qPrintable(said(judge_with(10))));
    QVERIFY(judge_with(0).reasons.empty());
    QCOMPARE(judge_with(5).flips - judge_with(5).explained_flips, int64_t{1});  // 4 is of the first five, 5 of the next
  }

  void a_choice_that_differs_only_when_running_freely_needs_a_cause() {
    const JudgedDecision first = decision("layer.0", top(1), 2, alternating(30)), second = decision("layer.1", top(1), 2, alternating(30));
    JudgedDecision f_second = second;
    f_second.choice[4] = 1;
    const Verification v = judged({first, second}, {replayed(first), replayed(second)}, {first, f_second});
    QCOMPARE(v.flips - v.explained_flips, int64_t{1});
    QVERIFY(!v.reasons.empty());
  }

  void cells_that_one_side_alone_has_need_a_cause() {
    const JudgedDecision outer = decision("exit.0", exit_rule(), 2, alternating(40)),
                         inner = below(outer, "exit.1", exit_rule(), alternating(20));
    JudgedDecision f_inner = inner;
    f_inner.place[0] = 2;  // a cell that was not sent there
    const Verification v = judged({outer, inner}, {replayed(outer), replayed(inner)}, {outer, f_inner});
    QVERIFY2(said(v).contains("router exit.1 decided over other cells"), qPrintable(said(v)));
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
    QTest::newRow("top-k, below all") << top(2) << Ints{1, 2} << Reals{0.2f, 1.5f, 1, -1e9f} << Reals{} << 0.8f << 2 << 0;
    QTest::newRow("top-k, minus infinity") << top(2) << Ints{1, 2} << Reals{0.2f, 1.5f, 1, -INFINITY} << Reals{} << 0.8f << 2 << 0;
    QTest::newRow("top-k, above all") << top(2) << Ints{3, 1} << Reals{0.2f, 1.5f, 1, 1e9f} << Reals{} << 0.5f << 1 << 2;
    QTest::newRow("switch, below all") << switches << Ints{1} << Reals{0.2f, 1.5f, 1, -1e9f} << Reals{} << 0.5f << 1 << 2;
    QTest::newRow("groups, below all") << groups << Ints{0} << Reals{2, 1, 0} << Reals{0, 0, -1e9f} << 0.14974f << 0 << 1;
    QTest::newRow("threshold, below") << threshold << Ints{0, kNoBranch, kNoBranch} << Reals{0.9f, 0.2f, -1e9f} << Reals{} << 0.3f << 0
                                      << 1;
    QTest::newRow("threshold, above") << threshold << Ints{2, 0, kNoBranch} << Reals{0.9f, 0.2f, 1e9f} << Reals{} << 0.3f << 0 << 1;
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
    QVERIFY2(judged({r}, {wrong}, {r}).reasons.empty(), qPrintable(said(judged({r}, {wrong}, {r}))));
    for (float& m : wrong.margin) m *= 1.02f;
    QVERIFY2(said(judged({r}, {wrong}, {r})).contains("the scores of router moe differ"), qPrintable(said(judged({r}, {wrong}, {r}))));
    // Few cells, of which nothing is measured but what rounding is taken to be: a flip over the whole margin.
    const JudgedDecision few = cells_of(3);
    JudgedDecision flipped = replayed(few);
    std::replace(flipped.free_choice.begin(), flipped.free_choice.begin() + static_cast<int64_t>(choice.size()), from, to);
    JudgedDecision free = few;
    free.choice = flipped.free_choice;
    QCOMPARE(judged({few}, {flipped}, {free}).flips, int64_t{1});
    QCOMPARE(judged({few}, {flipped}, {free}).explained_flips, int64_t{0});
  }

  void cells_whose_branch_is_forced_do_not_explain_the_others() {
    // Of every third cell branch 1 is forced by a score of 1e9, where f32 knows steps of 64.
    JudgedDecision r = decision("moe", top(1), 3, std::vector<int32_t>(40, 1));
    r.score_columns = 3;
    for (size_t c = 0; c < 40; ++c) {
      const bool forced = c % 3 == 0;
      r.scores.insert(r.scores.end(), {0.5f, forced ? 1e9f : 1, 0});
      r.margin[c] = forced ? 1e9f : 0.5f;
    }
    JudgedDecision p = replayed(r), f = r;
    for (size_t c = 0; c < 40; c += 3) p.margin[c] += 64;
    QVERIFY2(judged({r}, {p}, {f}).reasons.empty(), qPrintable(said(judged({r}, {p}, {f}))));
    p.free_choice[7] = f.choice[7] = 0;
    QCOMPARE(judged({r}, {p}, {f}).flips - judged({r}, {p}, {f}).explained_flips, int64_t{1});
    // Beside a baseline, whose scores nobody recorded.
    r.scores.clear();
    QCOMPARE(judged({r}, {p}, {f}).flips - judged({r}, {p}, {f}).explained_flips, int64_t{1});
    JudgedDecision wrong = replayed(r);
    for (size_t c = 0; c < 40; ++c)
      if (c % 3 != 0) wrong.margin[c] *= 1.02f;
    QVERIFY2(said(judged({r}, {wrong}, {r})).contains("the scores of router moe differ"), qPrintable(said(judged({r}, {wrong}, {r}))));
  }

  void a_flip_reaches_cells_of_its_own_item_in_other_spaces() {
    // Two items of five cells in one space, of one cell in another. Cell 1 flips at a near tie, so the first item's cell may follow.
    JudgedDecision first = decision("encoder", top(1), 2, alternating(10)), p_first = replayed(first);
    JudgedDecision second = decision("decoder", top(1), 2, {0, 0});
    first.dense_space = 1, second.dense_space = 2;
    first.per_item = 5, second.per_item = 1, first.together = 5, second.together = 1;
    JudgedDecision f_first = first;
    flip(first, p_first, 1, 0);
    f_first.choice[1] = 0;
    const auto judge_with = [&](size_t cell) {
      JudgedDecision f_second = second;
      f_second.choice[cell] = 1;
      return judged({first, second}, {p_first, replayed(second)}, {f_first, f_second});
    };
    QVERIFY2(judge_with(0).reasons.empty(), qPrintable(said(judge_with(0))));
    QCOMPARE(judge_with(1).flips - judge_with(1).explained_flips, int64_t{1});
  }

  void choices_that_differ_are_counted_by_branch() {
    const JudgedDecision r = decision("moe", top(2), 4, {0, 1, 1, 2, 2, 3}), alone = decision("other", top(1), 2, {0, 1, kNoBranch});
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
    QVERIFY(said(judged({r}, {p}, {r})).contains("did not replay"));
    QVERIFY(said(judged({r}, {}, {r})).contains("did not decide"));
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
