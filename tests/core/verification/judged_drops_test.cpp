// Drops by capacity, judged by computing it again from the choices.
#include "tests/core/verification/routing_judge_cases.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class JudgedDropsTest : public QObject {
  Q_OBJECT
 private slots:
  void drops_that_follow_an_explained_flip_are_right() {
    // One parent of 20 cells, capacity 10 a branch. Cell 0 goes to branch 1 for branch 0: there, the last cell no
    // longer fits.
    std::vector<int32_t> choice = alternating(20);
    JudgedDecision r = decision("moe", capacity(10), 2, choice), p = replayed(r), f = r;
    flip(r, p, 0, 1);
    p.free_choice[19] = dropped_from(1);
    f.choice = p.free_choice;
    const Verification v = judged({r}, {p}, {f});
    QVERIFY2(v.reasons.empty(), qPrintable(reasons_of(v)));
    QCOMPARE(v.flips, int64_t{1});
    QCOMPARE(v.consequences, int64_t{1});  // the drop
    QVERIFY(v.listed[1].follows && v.listed[1].cell == 19);
  }

  void a_drop_too_many_and_one_too_few_are_found() {
    std::vector<int32_t> full(12, 0);
    for (size_t i = 10; i < 12; ++i) full[i] = dropped_from(0);
    const JudgedDecision r = decision("moe", capacity(10), 2, full), p = replayed(r);
    QVERIFY(judged({r}, {p}, {r}).reasons.empty());
    JudgedDecision more = r, fewer = r;
    more.choice[3] = dropped_from(0);
    fewer.choice[11] = 0;
    QVERIFY2(reasons_of(judged({r}, {p}, {more})).contains("not follow its capacity"), "one too many");
    QVERIFY2(reasons_of(judged({r}, {p}, {fewer})).contains("not follow its capacity"), "one too few");
  }

  void drops_that_differ_without_a_cause_are_found_though_each_side_keeps_the_rule() {
    // Two parents of ten cells, five places a branch. Cells of the plan may stand in another order before the capacity.
    std::vector<int32_t> kept_first(20, 0), dropped_first(20, 0);
    for (size_t i = 0; i < 20; ++i) (i % 10 < 5 ? dropped_first : kept_first)[i] = dropped_from(0);
    JudgedDecision r = decision("moe", capacity(5), 2, kept_first), f = r, p = replayed(r);
    r.per_parent = f.per_parent = p.per_parent = 10;
    QVERIFY(judged({r}, {p}, {f}).reasons.empty());
    QCOMPARE(judged({r}, {p}, {f}).consequences, int64_t{0});
    const auto differs = [](const Verification& v) {
      return reasons_of(v).contains("drops of router moe differ from the reference's");
    };
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
    QVERIFY2(near.reasons.empty(), qPrintable(reasons_of(near)));
    QCOMPARE(near.explained_flips, int64_t{2});
    ours = replayed(r), free = r;
    std::swap(ours.free_choice[3], ours.free_choice[14]), std::swap(free.choice[3], free.choice[14]);
    std::swap(free.weight[3], free.weight[14]);
    QVERIFY(reasons_of(judged({r}, {ours}, {r})).contains("2 drops of router moe differ from the reference's"));
    QVERIFY(
        reasons_of(judged({r}, {replayed(r)}, {free})).contains("2 drops of router moe differ from the reference's"));
  }

  void places_in_a_part_of_a_batch_are_ranked_by_the_reference_s_scores() {
    // Eight cells of a batch want four places; four of them are judged. Their weights, each divided by itself, rank
    // nothing.
    Protocol p;
    p.kind = ProtocolKind::batch_prioritized;
    p.capacity_factor = 1, p.renormalize = true;
    const int32_t dropped = dropped_from(0);
    const JudgedDecision whole = decision("moe", p, 2, {0, 0, dropped, dropped, 0, 0, dropped, dropped});
    const JudgedDecision plan = decision("moe", p, 2, {0, 0, dropped, dropped});
    const auto judged_with = [&](const std::vector<float>& scores) {
      JudgedDecision r = plan;
      r.free_choice.assign(4, 0);
      r.score_columns = 2;
      for (const float score : scores) r.scores.insert(r.scores.end(), {score, 0.0f});
      RoutingJudge judge(Arithmetic::f32);
      judge.add_reference_replaying(0, {r}, {plan}, {whole});
      Verification v;
      judge.judge(v);
      return v;
    };
    const Verification right = judged_with({4, 3, 2, 1});
    QVERIFY2(right.reasons.empty() && right.flips == 0, qPrintable(reasons_of(right)));
    const Verification near = judged_with({4, 2, 2 + kError, 1});
    QVERIFY2(near.reasons.empty(), qPrintable(reasons_of(near)));
    QCOMPARE(near.explained_flips, int64_t{2});
    const Verification wrong = judged_with({4, 2, 3, 1});
    QVERIFY2(reasons_of(wrong).contains("2 drops of router moe differ from the reference's"),
             qPrintable(reasons_of(wrong)));
    QVERIFY(wrong.listed[0].cell == 1 && wrong.listed[0].ours == 0 && wrong.listed[0].reference == -1);
    QVERIFY(wrong.listed[1].cell == 2 && wrong.listed[1].ours == -1 && wrong.listed[1].reference == 0);
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
};
STORMCELL_TEST(JudgedDropsTest)

}  // namespace stormcell::testing
#include "judged_drops_test.moc"
