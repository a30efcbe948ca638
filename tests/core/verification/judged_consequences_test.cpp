// Consequences of a flip further up, and what only looks as if it did.
#include "tests/core/verification/routing_judge_cases.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class JudgedConsequencesTest : public QObject {
  Q_OBJECT
 private slots:
  void cells_that_one_side_alone_has_are_consequences_of_the_flip_above() {
    // Cell 1 leaves early instead of going on: every nested row behind it is another cell, the last is missing.
    JudgedDecision outer = decision("exit.0", exit_rule(), 2, alternating(40)), p_outer = replayed(outer),
                   f_outer = outer;
    flip(outer, p_outer, 1, 0);
    f_outer.choice[1] = 0;
    std::vector<int32_t> inner_choice = alternating(20);
    JudgedDecision inner = below(outer, "exit.1", exit_rule(), inner_choice), p_inner = replayed(inner);
    inner.together = p_inner.together = 1;
    inner_choice.erase(inner_choice.begin());
    const JudgedDecision f_inner = below(f_outer, "exit.1", exit_rule(), inner_choice);
    const Verification v = judged({outer, inner}, {p_outer, p_inner}, {f_outer, f_inner});
    QVERIFY2(v.reasons.empty(), qPrintable(reasons_of(v)));
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
    QVERIFY2(v.reasons.empty(), qPrintable(reasons_of(v)));
    QCOMPARE(v.flips, int64_t{1});
    QCOMPARE(v.consequences, int64_t{1});
    QCOMPARE(QString::fromStdString(flips_text(v)),
             QString("1 routing choice differs, a near tie; 1 more follows from that"));
  }

  void a_repeat_that_ends_a_turn_earlier_behind_a_flip_is_a_consequence() {
    JudgedDecision turn = decision("loop.exit", exit_rule(), 2, alternating(20)), p_turn = replayed(turn),
                   f_turn = turn;
    JudgedDecision last = turn;
    last.execution = 1;
    flip(turn, p_turn, 3, 0);
    f_turn.choice[3] = 0;
    const Verification v = judged({turn, last}, {p_turn, replayed(last)}, {f_turn});
    QVERIFY2(v.reasons.empty(), qPrintable(reasons_of(v)));
    QCOMPARE(v.consequences, int64_t{20});
  }

  void one_nested_exit_flipped_behind_an_explained_flip_is_found() {
    JudgedDecision outer = decision("exit.0", exit_rule(), 2, alternating(40)), p_outer = replayed(outer),
                   f_outer = outer;
    flip(outer, p_outer, 1, 0);
    f_outer.choice[1] = 0;
    std::vector<int32_t> inner_choice = alternating(20);
    JudgedDecision inner = below(outer, "exit.1", exit_rule(), inner_choice), p_inner = replayed(inner);
    p_inner.free_choice[12] ^= 1;  // by far no tie
    inner_choice[12] ^= 1;
    inner_choice.erase(inner_choice.begin());
    const Verification v =
        judged({outer, inner}, {p_outer, p_inner}, {f_outer, below(f_outer, "exit.1", exit_rule(), inner_choice)});
    QCOMPARE(v.flips, int64_t{2});
    QCOMPARE(v.explained_flips, int64_t{1});
    QVERIFY2(reasons_of(v).contains("1 choice of router exit.1 differs without a near tie"), qPrintable(reasons_of(v)));
    QVERIFY(!v.listed[0].explained && v.listed[0].router == "exit.1" && v.listed[0].cell == 25);
  }

  void a_cell_follows_only_from_flips_that_its_inputs_depend_on() {
    // Cell 4 flips at a near tie; further on cell 5 decides otherwise, though no router mixes cells. Within sequences
    // of ten it may.
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
    QVERIFY2(judge_with(10).reasons.empty(), qPrintable(reasons_of(judge_with(10))));
    QVERIFY(judge_with(0).reasons.empty());
    QCOMPARE(judge_with(5).flips - judge_with(5).explained_flips, int64_t{1});  // 4 is of the first five, 5 of the next
  }

  void a_choice_that_differs_only_when_running_freely_needs_a_cause() {
    const JudgedDecision first = decision("layer.0", top(1), 2, alternating(30)),
                         second = decision("layer.1", top(1), 2, alternating(30));
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
    QVERIFY2(reasons_of(v).contains("router exit.1 decided over other cells"), qPrintable(reasons_of(v)));
  }

  void a_flip_reaches_cells_of_its_own_item_in_other_spaces() {
    // Two items of five cells in one space, of one cell in another. Cell 1 flips at a near tie, so the first item's
    // cell may follow.
    JudgedDecision first = decision("encoder", top(1), 2, alternating(10)), p_first = replayed(first);
    JudgedDecision second = decision("decoder", top(1), 2, {0, 0});
    first.dense_space = SpaceId(1), second.dense_space = SpaceId(2);
    first.per_item = 5, second.per_item = 1, first.together = 5, second.together = 1;
    JudgedDecision f_first = first;
    flip(first, p_first, 1, 0);
    f_first.choice[1] = 0;
    const auto judge_with = [&](size_t cell) {
      JudgedDecision f_second = second;
      f_second.choice[cell] = 1;
      return judged({first, second}, {p_first, replayed(second)}, {f_first, f_second});
    };
    QVERIFY2(judge_with(0).reasons.empty(), qPrintable(reasons_of(judge_with(0))));
    QCOMPARE(judge_with(1).flips - judge_with(1).explained_flips, int64_t{1});
  }
};
STORMCELL_TEST(JudgedConsequencesTest)

}  // namespace stormcell::testing
#include "judged_consequences_test.moc"
