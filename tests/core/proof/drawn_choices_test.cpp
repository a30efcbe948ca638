// Choices of draws: they lead cells to branches behind other branches, and usual ones stay within what is usual.
#include "core/proof/drawn_choices.h"

#include <string>
#include <vector>

#include "core/graph/builder.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

OracleDecision asked(const std::string& router, int64_t cells, int32_t fan_out, int32_t branches) {
  OracleDecision made;
  made.router = router;
  made.shape = {cells, fan_out, branches};
  made.dense_cells = cells;
  return made;
}

}  // namespace

class DrawnChoicesTest : public QObject {
  Q_OBJECT
 private slots:
  void the_first_draw_is_free() {
    const Graph graph;
    QVERIFY(!DrawnChoices(graph, {}).of_draw(0, {}));
  }

  void usual_choices_stay_among_the_usual_branches() {
    const Graph graph;
    DrawnChoices choices(graph, {{"r", {1, 3}}});
    const std::vector<int32_t> one = choices.of_draw(1, {})(asked("r", 4, 1, 5));
    QCOMPARE(one, (std::vector<int32_t>{1, 3, 1, 3}));
    // A cell that needs three branches has both of them, and another.
    const std::vector<int32_t> three = choices.of_draw(1, {})(asked("r", 2, 3, 5));
    QCOMPARE(three, (std::vector<int32_t>{1, 3, 0, 3, 1, 0}));
    // A router that nobody knows uses all.
    QCOMPARE(choices.of_draw(1, {})(asked("other", 3, 1, 3)), (std::vector<int32_t>{0, 1, 2}));
  }

  void any_choices_name_branches_that_differ_within_a_cell() {
    const Graph graph;
    DrawnChoices choices(graph, {});
    for (int draw = 2; draw < 6; ++draw) {
      const std::vector<int32_t> drawn = choices.of_draw(draw, {})(asked("r", 20, 2, 3));
      QCOMPARE(drawn.size(), size_t{40});
      for (size_t i = 0; i < drawn.size(); i += 2) {
        QVERIFY(drawn[i] >= 0 && drawn[i] < 3 && drawn[i + 1] >= 0 && drawn[i + 1] < 3);
        QVERIFY(drawn[i] != drawn[i + 1]);
      }
      QCOMPARE(choices.of_draw(draw, {})(asked("r", 20, 2, 3)), drawn);
    }
  }

  void routers_with_equal_scores_get_equal_choices() {
    const Graph graph;
    DrawnChoices choices(graph, {});
    std::vector<OracleDecision> made{asked("a", 3, 1, 4), asked("b", 3, 1, 4), asked("c", 3, 1, 4)};
    for (OracleDecision& d : made) d.choice = {0, 1, 2};
    made[0].scores = made[1].scores = {1, 2, 3};
    made[2].scores = {1, 2, 4};
    choices.take(0, made);
    bool otherwise = false;
    for (int draw = 2; draw < 8; ++draw) {
      const ForceChoices force = choices.of_draw(draw, {});
      QCOMPARE(force(asked("b", 9, 1, 4)), force(asked("a", 9, 1, 4)));
      otherwise = otherwise || force(asked("c", 9, 1, 4)) != force(asked("a", 9, 1, 4));
    }
    QVERIFY(otherwise);
  }

  void a_branch_behind_ten_others_gets_cells() {
    // Each of eleven routers decides about the cells of branch 1 of the one before: by chance one cell of 2,048 gets to
    // the last.
    constexpr int kDeep = 11;
    GraphBuilder builder;
    const SpaceId items = builder.root_space("items", builder.symbol("N"));
    ValueId x = builder.input("x", DType::f32, items, {Dim(2)});
    for (int i = 0; i < kDeep; ++i)
      x = builder.scatter(x, builder.route(x, {}, "gate." + std::to_string(i)), {1}).front();
    const Graph& graph = builder.graph();
    DrawnChoices choices(graph, {});
    QCOMPARE(choices.unreached(), int64_t{2 * kDeep});
    constexpr int64_t kCells = 4;
    for (int draw = 2; draw < 2 + 2 * kDeep; ++draw) {
      const ForceChoices force = choices.of_draw(draw, {kCells});
      std::vector<OracleDecision> decisions;
      std::vector<int64_t> left{0, 1, 2, 3};
      for (int i = 0; i < kDeep; ++i) {
        OracleDecision made = asked("gate." + std::to_string(i), kCells, 1, 2);
        const std::vector<int32_t> all = force(made);
        std::vector<int64_t> on;
        for (const int64_t cell : left) {
          made.choice.push_back(all[cell]);
          if (all[cell] == 1) on.push_back(cell);
        }
        left = on;
        decisions.push_back(std::move(made));
      }
      choices.take(draw, decisions);
    }
    QCOMPARE(choices.unreached(), int64_t{0});
  }
};
STORMCELL_TEST(DrawnChoicesTest)
#include "drawn_choices_test.moc"
