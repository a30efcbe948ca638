// Costs of items told: means and spread by hand, classes that exclude each other and such that do not, and what the
// sentences claim.
#include "core/quality/item_cost_figures.h"

#include <cmath>
#include <set>

#include "core/data/dataset.h"
#include "core/formats/safetensors_writer.h"
#include "core/quality/interval.h"
#include "core/quality/item_classes.h"
#include "core/summary/item_costs_text.h"
#include "core/summary/parse.h"
#include "core/summary/summary_json.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::item_cost_figures_test {
namespace {

bool near(double a, double b) { return std::fabs(a - b) < 1e-9; }
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const ClassesOfItems kOne = {false, std::less<std::string>()}, kSeveral = {true, std::less<std::string>()};

/// `with` items of 60 to 80 operations that show a road and a person, `without` of 40 to 50 that show a road; all
/// branches take 100.
std::vector<ItemCost> street(int with, int without) {
  std::vector<ItemCost> items;
  for (int i = 0; i < with; ++i) items.push_back({i, 60.0 + 20 * (i % 2), 100, 4, 0, {"road", "person"}});
  for (int i = 0; i < without; ++i) items.push_back({with + i, 40.0 + 10 * (i % 2), 100, 4, 0, {"road"}});
  return items;
}

RunSummaryFigures run_of(ItemCostFigures costs) {
  RunSummaryFigures f;
  f.verb = "run";
  f.model.name = "demo:some-street";
  costs.item = "picture";
  f.item_costs = std::move(costs);
  return f;
}

}  // namespace

class ItemCostFiguresTest : public QObject {
  Q_OBJECT
 private slots:
  void means_and_spread_are_those_by_hand() {
    const ItemCostFigures f = item_cost_figures({{7, 10, 100}, {3, 30, 100}, {9, 20, 100}, {1, 60, 300}}, kOne);
    QVERIFY(f.items == 4 && near(f.operations, 30) && near(f.operations_of_all, 150) && near(f.share, 0.2) && !f.alike);
    QCOMPARE(f.quartiles.size(), size_t{3});  // of 0.1, 0.2, 0.2, 0.3
    QVERIFY(near(f.quartiles[0], 0.175) && near(f.quartiles[1], 0.2) && near(f.quartiles[2], 0.225));
    QVERIFY(f.least.item == 7 && near(f.least.share, 0.1) && f.most.item == 3 && near(f.most.operations, 30));
    QVERIFY(f.share_ci95 && (*f.share_ci95)[0] < 0.2 && (*f.share_ci95)[1] > 0.2);
    QVERIFY(f.groups.empty() && !f.served);
    const ItemCostFigures one = item_cost_figures({{0, 5, 0}}, kOne);  // of nothing all is spent
    QVERIFY(one.share == 1 && !one.share_ci95 && one.quartiles == std::vector<double>(3, 1.0));
    QVERIFY(near(*item_cost_figures({{0, 5, 10, 8, 2}, {1, 5, 10, 2, 1}}, kOne).served, 0.7));
  }

  /// A time limit can leave a part of the data, which each text then says.
  void costs_of_a_part_of_the_data_say_of_how_many() {
    RunSummaryFigures f = run_of(item_cost_figures({{0, 30, 100}, {1, 20, 100}, {2, 40, 100}}, kOne));
    f.dataset.sequences = 3;
    QVERIFY(!says(item_costs_sentence(f), "counted over"));
    f.dataset.sequences = 1678;
    for (const std::string& text : {item_costs_sentence(f), item_costs_headline(f), item_costs_lines(f)[0].second})
      QVERIFY2(says(text, ", counted over 3 of the 1,678 pictures"), text.c_str());
  }

  void what_the_largest_branch_alone_would_take_is_told_beside_all_of_them() {
    std::vector<ItemCost> items = {{0, 30, 100}, {1, 20, 100}, {2, 40, 100}};
    QVERIFY(!item_cost_figures(items, kOne).largest_branch);
    for (ItemCost& item : items) item.of_largest = 25;
    const ItemCostFigures f = item_cost_figures(items, kOne);
    QVERIFY(near(f.largest_branch->operations, 25) && near(f.largest_branch->share, 1.2));
    QVERIFY((*f.largest_branch->share_ci95)[0] < 1.2 && (*f.largest_branch->share_ci95)[1] > 1.2);
    const std::string sentence = item_costs_sentence(run_of(f));
    QVERIFY2(
        says(
            sentence,
            "spends 30.0 % of the operations that all branches would take (120.0 % of the operations of a network with "
            "only the largest branch)"),
        sentence.c_str());
    QCOMPARE(item_costs_headline(run_of(f)),
             std::string("some-street spends 30.0 % of the operations that all branches would take"));
    QVERIFY(says(item_costs_lines(run_of(f))[1].second,
                 " of the 25 of a network with only the largest branch and no router"));
    QVERIFY(says(item_costs_tiles(run_of(f))[0].more,
                 "; 120.0 % of the operations of a network with only the largest branch"));
    // A cell goes to two at once, of some routers or of all.
    RunSummaryFigures two = run_of(f);
    two.routing.resize(2);
    two.routing[0].fan_out = 2;
    QVERIFY(
        says(item_costs_sentence(two), "of the operations of a network with only the largest branches of each router"));
    two.routing[1].fan_out = 2;
    for (const std::string& text :
         {item_costs_sentence(two), item_costs_lines(two)[1].second, item_costs_tiles(two)[0].more})
      QVERIFY2(says(text, " of a network with only the two largest branches"), text.c_str());
  }

  void the_ends_of_many_labels_that_are_alike_are_no_difference() {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      uint64_t state = seed;
      std::vector<ItemCost> items;
      for (int i = 0; i < 1200; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        items.push_back(
            {i, 20.0 + static_cast<double>(state >> 40) / 0x1p24 * 60, 100, 1, 0, {std::to_string(i % 100)}});
      }
      const std::string sentence = item_costs_sentence(run_of(item_cost_figures(items, kOne)));
      QVERIFY2(!says(sentence, "labelled"), sentence.c_str());
    }
  }

  void labels_that_exclude_each_other_are_groups() {
    std::vector<ItemCost> items;
    for (int i = 0; i < 40; ++i)
      items.push_back({i, i % 2 == 0 ? 20.0 + i % 3 : 60.0 + i % 5, 100, 1, 0, {i % 2 == 0 ? "a" : "b"}});
    items.push_back({40, 50, 100});  // nobody says what it is
    const ItemCostFigures f = item_cost_figures(items, kOne);
    QCOMPARE(f.groups.size(), size_t{2});
    QVERIFY(f.groups[0].name == "a" && f.groups[0].with.items == 20 && !f.groups[0].without && !f.groups[0].fewer);
    const std::string sentence = item_costs_sentence(run_of(f));
    QVERIFY2(sentence.starts_with("spends 41.7 %") && says(sentence, ": least on those labelled a (2") &&
                 says(sentence, "), most on those labelled b (6"),
             sentence.c_str());
    QVERIFY(
        item_cost_figures({{0, 1, 2, 0, 0, {"a"}}, {1, 1, 2, 0, 0, {"a"}}}, kOne).groups.empty());  // the same of all
  }

  /// A class that all of them show sets none apart.
  void items_that_show_a_class_stand_beside_those_that_do_not() {
    const ItemCostFigures f = item_cost_figures(street(20, 30), kSeveral);
    QCOMPARE(f.groups.size(), size_t{1});
    const GroupSpent& g = f.groups[0];
    QVERIFY(g.name == "person" && g.with.items == 20 && g.without->items == 30);
    QVERIFY(near(g.with.share, 0.7) && near(g.without->share, 0.45) && near(*g.fewer, 1 - 0.45 / 0.7));
    QVERIFY((*g.fewer_ci95)[0] < *g.fewer && *g.fewer < (*g.fewer_ci95)[1] && (*g.fewer_ci95)[0] > 0.3);
    QCOMPARE(
        item_costs_headline(run_of(f)),
        std::string("some-street spends 35.7 % fewer operations on pictures without person than on those with it"));
    const std::string sentence = item_costs_sentence(run_of(f));
    QVERIFY2(sentence.starts_with("spends 35.7 % [") && says(sentence,
                                                             "] fewer operations on the 30 pictures without person "
                                                             "than on the 20 with, and on average 55.0 % of what all"),
             sentence.c_str());
    QCOMPARE(item_costs_groups(f).size(), size_t{2});
    // A class that is not compared changes nothing, for tile and sentence alike.
    ItemCostFigures another = f;
    another.groups.push_back({"road", {50, 0.55}});
    for (const ItemCostFigures& figures : {f, another}) {
      QVERIFY(says(item_costs_sentence(run_of(figures)), "without person than on the 20 with"));
      QVERIFY(item_costs_tiles(run_of(figures))[0].more.ends_with("; without person 45.0 %, with 70.0 %"));
    }
    QCOMPARE(item_costs_tiles(run_of(f)).size(), size_t{1});
    // An item without a target is on neither side.
    std::vector<ItemCost> items = street(20, 30);
    items.push_back({50, 99, 100});
    QCOMPARE(item_cost_figures(items, kSeveral).groups[0].without->items, int64_t{30});
  }

  void no_difference_is_claimed_that_the_items_do_not_show() {
    const auto figures = [](const std::vector<ItemCost>& items) { return run_of(item_cost_figures(items, kSeveral)); };
    const auto sentence = [&](const std::vector<ItemCost>& items) { return item_costs_sentence(figures(items)); };
    const std::string few = sentence(street(3, 3));
    QVERIFY2(says(few, "of the operations that all branches would take, from 40.0 to 80.0 % by picture") &&
                 !says(few, "person"),
             few.c_str());
    std::vector<ItemCost> alike = street(20, 30);
    for (ItemCost& item : alike) item.operations = 40.0 + 5 * static_cast<double>(item.item % 3);
    QVERIFY(!says(sentence(alike), "person") && !says(item_costs_headline(figures(alike)), "person"));
    std::vector<ItemCost> other_way = street(20, 30);
    for (ItemCost& item : other_way) item.operations = 100 - item.operations;
    QVERIFY2(says(sentence(other_way), "more operations on the 30 pictures without person than on the 20 with"),
             sentence(other_way).c_str());
    QVERIFY(says(item_costs_headline(figures(other_way)),
                 " % more operations on pictures without person than on those with it"));
    for (ItemCost& item : alike) item.operations = 40;
    QVERIFY(sentence(alike).ends_with(
        "40.0 % of the operations that all branches would take, the same share of each picture"));
    for (ItemCost& item : alike) item.operations = 100;
    QVERIFY(sentence(alike).empty() && item_costs_headline(figures(alike)).empty());  // nothing is spared
    QVERIFY(item_costs_sentence(RunSummaryFigures()).empty() && item_costs_headline(RunSummaryFigures()).empty());
  }

  void two_groups_are_drawn_each_on_its_own() {
    const auto counts = [](std::span<const size_t> a, std::span<const size_t> b) {
      return static_cast<double>(a.size()) * 100 + static_cast<double>(b.size());
    };
    QCOMPARE(*bootstrap_interval({2, 7}, counts), (std::array{207.0, 207.0}));
    QVERIFY(!bootstrap_interval({1, 7}, counts) && !bootstrap_interval({7, 1}, counts));
  }

  void what_is_not_to_be_judged_is_shown_all_the_same() {
    const Scratch scratch;
    const std::vector<float> pixels(3 * 4, 0.5F);
    const std::vector<uint8_t> targets = {0, 0, 1, 1, 0, 0, 0, 255, 255, 255, 255, 255},
                               judged = {1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const std::string file = scratch.path("x.safetensors");
    const std::vector<TensorToWrite> tensors = {{"pixels", DType::f32, {3, 2, 2, 1}, pixels.data()},
                                                {"targets", DType::u8, {3, 2, 2}, targets.data()},
                                                {"judged", DType::u8, {3, 2, 2}, judged.data()}};
    write_safetensors(file, tensors);
    DataOptions options;
    options.inputs = {{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {2, 2, 1}, 0}};
    const auto data = Dataset::open(file, nullptr, options);
    QCOMPARE(data->target_classes(0).shown, (std::vector<int32_t>{0, 1}));
    QCOMPARE(data->target_classes(1).shown, (std::vector<int32_t>{0}));
    QVERIFY(data->target_classes(2).shown.empty());
    Model model;
    model.classes = {"road"};
    const ItemClasses classes(model, *data);
    const Batch batch = data->batch(0);
    QVERIFY(classes.may_be_several() && classes.of(batch, 0) == (std::vector<std::string>{"road", "1"}) &&
            classes.of(batch, 2).empty());
    QVERIFY(classes.before("road", "1") && classes.before("1", "10") && classes.before("2", "10") &&
            !classes.before("other", "10"));
    QVERIFY(data->note().empty());
  }

  void parts_are_told_where_gates_may_leave_some_out() {
    std::vector<ItemCost> items = street(2, 3);
    QVERIFY(!item_cost_figures(items, kSeveral).parts && !item_cost_figures(items, kSeveral).groups[0].with.parts);
    for (ItemCost& item : items) item.parts = static_cast<double>(10 - item.item), item.of_parts = 18;
    const ItemCostFigures f = item_cost_figures(items, kSeveral);
    QVERIFY(f.parts && near(f.parts->mean, 8) && f.parts->of == 18 && f.parts->mean_ci95);
    QVERIFY((*f.parts->mean_ci95)[0] >= 6 && (*f.parts->mean_ci95)[0] < 8 && (*f.parts->mean_ci95)[1] > 8 &&
            (*f.parts->mean_ci95)[1] <= 10);
    const GroupSpent& g = f.groups[0];
    QVERIFY(near(g.with.parts->mean, 9.5) && near(g.without->parts->mean, 7));
    const auto lines = item_costs_lines(run_of(f));
    const auto at =
        std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.first == "parts computed"; });
    QVERIFY(at != lines.end() && says(at->second, "8.00 [") &&
            says(at->second, "] on average of the 18 that routers may leave out"));
    QVERIFY2(says((at + 1)->second, "without person 7.00 [") && says((at + 1)->second, "], with 9.50 ["),
             (at + 1)->second.c_str());
    const auto rows = item_costs_groups(f);
    QVERIFY(std::set<std::string>(rows[0].begin(), rows[0].end()).size() ==
            rows[0].size());  // no two columns of one name
    QVERIFY(rows[0].size() == 8 && rows[0][6] == "parts with it" && rows[0][7] == "parts without it");
    QVERIFY(rows[1][6].starts_with("9.50 [") && rows[1][7].starts_with("7.00 ["));
    QCOMPARE(item_costs_groups(item_cost_figures(street(2, 3), kSeveral))[0].size(), size_t{6});
    items = {{0, 1, 2, 0, 0, {"a"}, 1, 2}, {1, 1, 2, 0, 0, {"b"}, 0, 2}};
    const auto labels = item_costs_groups(item_cost_figures(items, kOne));
    QVERIFY(labels[0].size() == 4 && labels[0][3] == "parts" && labels[1][3] == "1.00" && labels[2][3] == "0.00");
  }

  void json_holds_them_and_is_read_again() {
    std::vector<ItemCost> items = street(20, 30);
    for (ItemCost& item : items) item.parts = 3, item.of_parts = 4;
    RunSummaryFigures f = run_of(item_cost_figures(items, kSeveral));
    f.item_costs->least.name = "picture 20", f.item_costs->served = 0.5;
    f.dataset.note = "drawings";
    const auto read = parse_summary(to_json(f));
    QVERIFY(read && read->figures.item_costs && read->figures.dataset.note == "drawings");
    const ItemCostFigures &came = *read->figures.item_costs, &was = *f.item_costs;
    QVERIFY(came.least.name == "picture 20" && came.quartiles == was.quartiles && came.served == was.served &&
            came.alike);
    QVERIFY(item_costs_lines(read->figures) == item_costs_lines(f) &&
            item_costs_groups(came) == item_costs_groups(was));
    QVERIFY(!parse_summary("{}")->figures.item_costs);
  }
};

STORMCELL_TEST(ItemCostFiguresTest)

}  // namespace stormcell::testing::item_cost_figures_test
#include "item_cost_figures_test.moc"
