#include "core/cell/decision.h"

#include <random>

#include "tests/core/cell/decision_memory.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using testing::broken_invariant;
using testing::Decision;
}  // namespace

class DecisionTest : public QObject {
  Q_OBJECT
 private slots:
  void ids_come_from_the_batchs_table() {
    const CellTable table{100, 4, 12, 0, Phase::forward};
    QCOMPARE(table.cells(), int64_t{48});
    QVERIFY((table.id(25) == CellId{102, 102, 1, 0, Phase::forward}));
    // In decoding a batch has one cell a sequence, whose position is its step.
    const CellTable step{100, 4, 1, 7, Phase::decode};
    QVERIFY((step.id(3) == CellId{103, 103, 7, 7, Phase::decode}));
    // A batch of like lengths holds items from all over the data set; its first row is no item 0.
    const int64_t items[] = {7, 3, 12};
    CellTable list{0, 3, 6, 0, Phase::forward};
    list.columns = 3;
    list.items = items;
    QVERIFY((list.id(5) == CellId{7, 7, 5, 0, Phase::forward}));
    QVERIFY((list.id(6) == CellId{3, 3, 0, 0, Phase::forward}));
    QVERIFY((list.id(17) == CellId{12, 12, 5, 0, Phase::forward}));
    QVERIFY((list.place(5) == GridPlace{1, 2}) && (table.place(5) == GridPlace{0, 5}));
  }
  void parents_by_groups_by_map_and_none() {
    QCOMPARE((ParentMap{4, nullptr}.of(11)), int64_t{2});
    const int32_t map[] = {5, 5, 7};
    QCOMPARE((ParentMap{0, map}.of(2)), int64_t{7});
    QCOMPARE((ParentMap{}.of(99)), int64_t{0});
  }
  void parts_of_a_decision_do_not_overlap() {
    for (const DecisionShape& shape :
         {DecisionShape{0, 1, 1}, DecisionShape{1, 1, 1}, DecisionShape{17, 3, 5}, DecisionShape{1000, 64, 4096}}) {
      Decision d(shape);
      const auto packed = static_cast<size_t>(shape.cells * shape.fan_out);
      std::fill_n(d->cells, 1, 1);
      std::fill_n(d->offsets, shape.branches + 1, 2);
      std::fill_n(d->cell, packed, 3);
      std::fill_n(d->weight, packed, 4.0f);
      std::fill_n(d->choice, packed, 5);
      std::fill_n(d->choice_weight, packed, 6.0f);
      std::fill_n(d->slot, packed, 7);
      std::fill_n(d->wanted, shape.branches, 8);
      std::fill_n(d->padded, shape.branches, 9);
      std::fill_n(d->margin, shape.cells, 10.0f);
      std::fill_n(d->scratch, shape.cells, 11);
      QCOMPARE(*d->cells, 1);
      QCOMPARE(d->offsets[shape.branches], 2);
      QVERIFY(packed == 0 || (d->cell[packed - 1] == 3 && d->weight[packed - 1] == 4 && d->choice[packed - 1] == 5));
      QVERIFY(packed == 0 || (d->choice_weight[packed - 1] == 6 && d->slot[packed - 1] == 7));
      QVERIFY(d->wanted[shape.branches - 1] == 8 && d->padded[shape.branches - 1] == 9);
      QVERIFY(shape.cells == 0 || (d->margin[shape.cells - 1] == 10 && d->scratch[shape.cells - 1] == 11));
      QCOMPARE(reinterpret_cast<uintptr_t>(d->margin) % 64, uintptr_t{0});
    }
  }

  // Checked against the artifact of Brainstorm (OSDI'23), whose tags count from 1: a hot mask of 12 cells x 3 paths
  // whose tags are [3,12], [1,2,4,6,7,8,9,10], [5,11].
  void twelve_cells_over_three_paths() {
    Decision d(12, 1, 3);
    set_choices(d, {1, 1, 0, 1, 2, 1, 1, 1, 1, 1, 2, 0});
    index_decision(*d, 12);
    QCOMPARE(d.loads(), (std::vector<int32_t>{2, 8, 2}));
    QCOMPARE(d.cells_of(0), (std::vector<int32_t>{2, 11}));
    QCOMPARE(d.cells_of(1), (std::vector<int32_t>{0, 1, 3, 5, 6, 7, 8, 9}));
    QCOMPARE(d.cells_of(2), (std::vector<int32_t>{4, 10}));
    QCOMPARE(broken_invariant(*d, 12), std::string());
  }
  void several_choices_drops_and_none() {
    Decision d(3, 2, 4);
    set_choices(d, {2, 0, dropped_from(2), 3, kNoBranch, kNoBranch});
    index_decision(*d, 3);
    QCOMPARE(broken_invariant(*d, 3), std::string());
    QCOMPARE(d.loads(), (std::vector<int32_t>{1, 0, 1, 1}));
    QCOMPARE(d->dropped(2), 1);
    QCOMPARE(d->wanted[2], 2);
    QCOMPARE(d->weight[d->slot[1]], 2.0f);
  }
  void no_cells_at_all() {
    Decision d(0, 2, 3);
    index_decision(*d, 0);
    QCOMPARE(d.loads(), (std::vector<int32_t>{0, 0, 0}));
    QCOMPARE(broken_invariant(*d, 0), std::string());
  }
  void dropped_and_none_are_told_apart_for_every_branch() {
    for (const int32_t branch : {0, 1, 4095, INT32_MAX - 1}) {
      QVERIFY(is_dropped(dropped_from(branch)) && !is_kept(dropped_from(branch)));
      QCOMPARE(branch_of(dropped_from(branch)), branch);
      QCOMPARE(branch_of(branch), branch);
    }
    QVERIFY(!is_dropped(kNoBranch) && !is_kept(kNoBranch));
    QCOMPARE(branch_of(kNoBranch), kNoBranch);
  }

  void combine_after_dispatch_is_the_identity() {
    testing::Drawn<std::mt19937> random(1);
    for (const int64_t width : {1, 3, 16}) {
      const int64_t cells = 50;
      Decision d(cells, 1, 7);
      std::vector<int32_t> choices(static_cast<size_t>(cells));
      for (auto& c : choices) c = static_cast<int32_t>(random() % 7);
      set_choices(d, choices);
      index_decision(*d, cells);
      std::vector<float> from(static_cast<size_t>(cells * width)), packed(from.size(), -1), to(from.size(), -1);
      for (auto& x : from) x = static_cast<float>(random() % 1000);
      dispatch(*d, from.data(), width, packed.data());
      combine(*d, cells, packed.data(), width, false, to.data());
      QCOMPARE(to, from);
    }
  }
  void dispatch_moves_the_rows_of_a_branch_together() {
    Decision d(4, 1, 2);
    set_choices(d, {1, 0, 1, 0});
    index_decision(*d, 4);
    const std::vector<float> from = {10, 11, 20, 21, 30, 31, 40, 41};
    std::vector<float> packed(8);
    dispatch(*d, from.data(), 2, packed.data());
    QCOMPARE(packed, (std::vector<float>{20, 21, 40, 41, 10, 11, 30, 31}));
  }
  void combine_sums_weighted_choices_and_leaves_the_dropped_out() {
    Decision d(3, 2, 2);
    set_choices(d, {0, 1, 1, dropped_from(0), dropped_from(1), kNoBranch});  // weights 1, 2, 3, 4, 5, 6
    index_decision(*d, 3);
    std::vector<float> packed(3), to(3);  // branch 0: cell 0; branch 1: cells 0, 1
    packed = {100, 10, 1};
    combine(*d, 3, packed.data(), 1, true, to.data());
    QCOMPARE(to, (std::vector<float>{100 * 1 + 10 * 2, 1 * 3, 0}));
    combine(*d, 3, packed.data(), 1, false, to.data());
    QCOMPARE(to, (std::vector<float>{110, 1, 0}));
  }
  void several_flows_share_one_decision() {
    Decision d(3, 1, 2);
    set_choices(d, {1, 0, 1});
    index_decision(*d, 3);
    const std::vector<float> a = {1, 2, 3}, b = {1, 1, 2, 2, 3, 3};
    std::vector<float> sa(3), sb(6), ta(3), tb(6);
    dispatch(*d, a.data(), 1, sa.data());
    dispatch(*d, b.data(), 2, sb.data());
    combine(*d, 3, sa.data(), 1, false, ta.data());
    combine(*d, 3, sb.data(), 2, false, tb.data());
    QCOMPARE(ta, a);
    QCOMPARE(tb, b);
  }
  // A router inside a branch decides on that branch's rows; going back through both gives every cell its value once.
  void nested_decisions_come_back_to_their_cells() {
    Decision outer(6, 1, 2), inner(6, 1, 3);
    set_choices(outer, {0, 1, 1, 0, 1, 1});
    index_decision(*outer, 6);
    const std::vector<float> from = {1, 2, 3, 4, 5, 6};
    std::vector<float> rows(6), inner_rows(6), back(6), to(6);
    dispatch(*outer, from.data(), 1, rows.data());
    const int32_t begin = outer->offsets[1], load = outer->load(1);
    set_choices(inner, {2, 0, 2, 1});
    index_decision(*inner, load);
    dispatch(*inner, rows.data() + begin, 1, inner_rows.data());
    combine(*inner, load, inner_rows.data(), 1, false, back.data());
    std::copy_n(back.begin(), load, rows.begin() + begin);
    combine(*outer, 6, rows.data(), 1, false, to.data());
    QCOMPARE(to, from);
    QCOMPARE(broken_invariant(*inner, load), std::string());
  }
};

STORMCELL_TEST(DecisionTest)

}  // namespace stormcell

#include "decision_test.moc"
