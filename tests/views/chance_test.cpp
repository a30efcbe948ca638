// Chance in views: what even routers can do is grey, what they cannot is not.
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <fstream>

#include "core/comparison/compare.h"
#include "core/imports/import.h"
#include "core/readings/run_facts.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/mixture_fixture.h"
#include "tests/views/overview_fixture.h"
#include "views/compare/compare_painter.h"
#include "views/drawing/theme.h"
#include "views/graph/graph_view.h"
#include "views/heatmap/heatmap_model.h"
#include "views/heatmap/heatmap_painter.h"
#include "views/overview/overview_page.h"
#include "views/overview/overview_table.h"
#include "views/placement/placement_view.h"
#include "views/transitions/transitions_model.h"
#include "views/transitions/transitions_painter.h"
#include "views/transitions/transitions_picture.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {
using namespace stormcell::testing;

/// [branch of the first router][branch of the second one]: tokens that took both. Rows have 108, 95, 102 and 95 of 400.
using PairedTokens = std::array<std::array<int, 4>, 4>;
/// The second router is skewed, 200, 80, 60 and 60, whatever the first one chose.
constexpr PairedTokens kSkewed = {{{54, 22, 16, 16}, {47, 19, 15, 14}, {51, 20, 15, 16}, {48, 19, 14, 14}}};
/// Likewise; the first router's loads are others, and chance has both.
constexpr PairedTokens kSkewedAgain = {{{56, 16, 16, 16}, {52, 16, 16, 16}, {50, 16, 16, 16}, {50, 16, 16, 16}}};
/// It mostly takes the branch of the first one.
constexpr PairedTokens kFollowing = {{{90, 6, 6, 6}, {5, 80, 5, 5}, {6, 5, 85, 6}, {5, 5, 5, 80}}};

std::string planted_session(const QTemporaryDir& folder, const char* name, const PairedTokens& tokens) {
  ImportOptions import;
  import.traces = {folder.filePath(QString(name) + ".csv").toStdString()};
  import.session = folder.filePath(QString(name) + ".storm").toStdString();
  std::ofstream trace(import.traces[0]);
  trace << "# route_trace v1\n# n_layer=2 n_expert=4 n_expert_used=1\nturn,phase,step,layer,slot,expert\n";
  int step = 0;
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to)
      for (int i = 0; i < tokens[from][to]; ++i, ++step)
        trace << "0,1," << step << ",0,0," << from << "\n0,1," << step << ",1,0," << to << "\n";
  trace.close();
  import_traces(import);
  return import.session;
}

int tint_of(const QColor& color) {
  const auto [least, most] = std::minmax({color.red(), color.green(), color.blue()});
  return most - least;
}

}  // namespace

class ChanceInViewsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string skewed_, following_;

 private slots:
  void initTestCase() {
    skewed_ = planted_session(folder_, "skewed", kSkewed);
    following_ = planted_session(folder_, "following", kFollowing);
  }

  void the_overview_greys_what_even_routers_can_do() {
    const auto facts = read_run_facts(skewed_, 0);
    QCOMPARE(facts->routers.size(), size_t{2});
    const auto &even = facts->routers[0].chance, &uneven = facts->routers[1].chance;
    QVERIFY(even && uneven && !even->beyond && uneven->beyond);
    // 108 of a mean of 100; 200 of it.
    QVERIFY(even->imbalance_low < .08 && even->imbalance_high > .08 && uneven->imbalance_high < 1);
    Situation s;
    s.facts = *facts;
    OverviewPageModel page = make_page(s);
    QCOMPARE(page.routers.size(), size_t{2});
    QVERIFY(!page.routers[0].within_chance && page.routers[1].within_chance);
    QVERIFY(page.routers[1].tip.contains("within chance") && page.routers[0].tip.contains("beyond chance"));
    QVERIFY2(page.notes.join('\n').contains("The loads of 1 of 2 routers are beyond chance."),
             qPrintable(page.notes.join('\n')));
    QVERIFY(says(make_overview_table(s), "imbalance, beyond chance"));
    OverviewPage widget;
    widget.set_page(page);
    const QImage grey = draw(widget, {960, 720});
    page.routers[1].within_chance = false;
    widget.set_page(page);
    QVERIFY(grey != draw(widget, {960, 720}));
  }

  void chance_is_no_reason_to_look_at_the_heatmap() {
    Situation s;
    s.facts = *read_run_facts(skewed_, 0);
    s.facts.line.kind = "import";
    s.facts.routers.resize(1);
    s.facts.routers[0].imbalance = 5;
    QVERIFY(!rules_of(s).contains("imbalance"));
    s.facts.routers[0].chance->beyond = true;
    QVERIFY(rules_of(s).contains("imbalance"));
  }

  void random_tokens_are_warned_of() {
    Situation s;
    s.facts = *read_run_facts(skewed_, 0);
    QVERIFY(!s.facts.random_tokens && !make_page(s).notes.join('\n').contains("random tokens"));
    s.facts.random_tokens = true;
    const OverviewPageModel page = make_page(s);
    QVERIFY(page.notes.join('\n').contains("looks like random tokens") && page.notes_tone == Tone::warn);
  }

  void the_heatmap_greys_routers_that_may_be_even() {
    const auto windows = read_load_windows(skewed_, 0, {0, -1}, 64);
    HeatMatrix matrix = make_matrix(*windows, windows_of(*windows, 0, -1), {});
    QVERIFY(!matrix.rows[0].within_chance && !matrix.rows[1].within_chance);
    mark_within_chance(read_load_chances(skewed_, 0), matrix);
    QVERIFY(matrix.rows[0].within_chance && !matrix.rows[1].within_chance);
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      const QImage tones = tone_image(matrix, *theme);
      for (int branch = 0; branch < 4; ++branch) QVERIFY(tint_of(tones.pixelColor(branch, 0)) <= 2);
      QVERIFY(tint_of(tones.pixelColor(0, 1)) > 10);
    }
    QVERIFY(describe(matrix, *windows, windows_of(*windows, 0, -1), 0, 0).contains("grey"));
    QVERIFY(!describe(matrix, *windows, windows_of(*windows, 0, -1), 1, 0).contains("grey"));
    // Dropped cells and weights are no loads.
    HeatOptions drops;
    drops.metric = HeatMetric::drops;
    HeatMatrix dropped = make_matrix(*windows, windows_of(*windows, 0, -1), drops);
    mark_within_chance(read_load_chances(skewed_, 0), dropped);
    QVERIFY(!dropped.rows[0].within_chance);
  }

  void transitions_grey_pairs_that_loads_alone_explain() {
    const auto skewed = read_routing_flow(skewed_, 1, {0, -1}, {}, 1000),
               following = read_routing_flow(following_, 1, {0, -1}, {}, 1000);
    QVERIFY(skewed->transitions.judged && following->transitions.judged);
    QCOMPARE(skewed->transitions.total, int64_t{400});
    const PairMatrix by_loads = make_pairs(skewed->transitions, "a", "b", PairValue::share, false),
                     followed = make_pairs(following->transitions, "a", "b", PairValue::share, false);
    for (int from = 0; from < 4; ++from)
      for (int to = 0; to < 4; ++to) {
        QVERIFY(by_loads.is_grey(from, to));
        QCOMPARE(followed.beside_chance(from, to), from == to ? PairBeside::more_often : PairBeside::more_rarely);
      }
    QVERIFY(by_loads.title.contains("grey: within chance") && describe(by_loads, 2, 2).contains("; within chance"));
    QVERIFY(describe(followed, 2, 2).contains("more often than by chance"));
    const Table table = make_table(*following);
    QCOMPARE(table.columns.back().name, QString("beside chance"));
    for (const auto& row : table.rows)
      QCOMPARE(std::get<QString>(row.back()),
               QString(row[2] == row[4] ? "more often than by chance" : "more rarely than by chance"));
    // Pairs that nobody judged are in colour.
    QVERIFY(!make_pairs({2, 2, {{0, 0, 5}}, 5, 1}, "a", "b", PairValue::share, false).is_grey(0, 0));
  }

  void the_graph_greys_routers_that_may_be_even() {
    GraphView view;
    run_load(view, context_of(skewed_));
    const auto* picture = view.findChild<GraphPicture*>();
    const GraphPage page = picture->page();
    QVERIFY(page.has_grey() && page.within_chance(0) && !page.within_chance(1));
    for (const Theme* theme : {&Theme::light(), &Theme::dim()})
      for (size_t card = 0; card < page.cards.size(); ++card) {
        const GraphRow& row = page.cards[card].rows[0];
        for (const GraphSquare& square : row.squares) {
          const int tint = tint_of(square_color(page, row.router, square, *theme));
          if (row.router == 0) QVERIFY(tint <= 2);
          if (row.router == 1 && square.first == 0) QVERIFY(tint > 10);
        }
        const QString text = describe_place(page, card),
                      beside = row.router == 0 ? "its loads are within chance" : "its loads are beyond chance";
        QVERIFY2(text.contains(beside), qPrintable(text));
        QVERIFY(describe_square(page, row.router, row.squares[0]).contains(beside));
      }
    const Table table = make_branch_table(page);
    constexpr size_t kBeside = 9;
    QCOMPARE(table.columns[kBeside].name, QString("Beside chance"));
    for (const auto& row : table.rows)
      QCOMPARE(std::get<QString>(row[kBeside]),
               std::get<QString>(row[3]) == to_qstring(page.router(0).line.name) ? QString("within chance")
                                                                                : QString("beyond chance"));
    GraphPage in_colour = page;
    in_colour.chances.clear();
    QVERIFY(!in_colour.has_grey() && std::get_if<QString>(&make_branch_table(in_colour).rows[0][kBeside]) == nullptr);
    // Colours of branches say something else, and a part of the run is not judged.
    in_colour = page, in_colour.scheme = BranchScheme::cluster;
    QVERIFY(!in_colour.has_grey());
    Selection part;
    part.end_batch = 1;
    run_load(view, context_of(skewed_), part);
    QVERIFY(!picture->page().has_grey() && picture->page().chances.empty());
  }

  void the_placement_greys_layers_that_may_be_even() {
    const std::string session = make_mixture_session(folder_.filePath("mixture.storm").toStdString());
    PlacementView view;
    run_load(view, context_of(session));
    auto* picture = dynamic_cast<PlacementPicture*>(view.picture());
    const LoadChances chances = read_load_chances(session, 1);
    QVERIFY(!chances.empty() && picture->page().chances.size() == testing::kLayers);
    for (size_t layer = 0; layer < testing::kLayers; ++layer) {
      const std::string name = "model.layers." + std::to_string(layer) + ".mlp";
      QVERIFY(picture->page().chances[layer].has_value());
      QCOMPARE(picture->page().within_chance(layer), !chances.at(name).beyond);
    }
    PlacementPage page = picture->page();
    for (std::optional<LoadChance>& chance : page.chances) chance->beyond = true;
    QVERIFY(describe_gpu(page, 0).contains("beyond chance") && describe_slot(page, 0).contains("beyond chance"));
    picture->set_page(page);
    const QImage in_colour = draw(*picture, {1000, 620});
    page.chances[page.layer]->beyond = false;
    QVERIFY(describe_gpu(page, 0).contains("within chance"));
    picture->set_page(page);
    QVERIFY(in_colour != draw(*picture, {1000, 620}));
    // Another layer is grey in the strip of layers alone.
    page.chances[page.layer]->beyond = true, page.chances[(page.layer + 1) % testing::kLayers]->beyond = false;
    picture->set_page(page);
    QVERIFY(in_colour != draw(*picture, {1000, 620}));
    const Table table = make_placement_table(page);
    QCOMPARE(table.columns.back().name, QString("Beside chance"));
    for (const auto& row : table.rows) {
      QCOMPARE(row.size(), table.columns.size());
      if (std::get<QString>(row[0]) == QString("imbalance of layer %1").arg((page.layer + 1) % testing::kLayers))
        QCOMPARE(std::get<QString>(row.back()), QString("within chance"));
    }
  }

  void runs_whose_routers_may_be_even_do_not_differ_in_balance() {
    const std::string again = planted_session(folder_, "again", kSkewedAgain);
    const Comparison comparison = compare_runs(skewed_, again);
    const auto facts = read_run_facts(skewed_, 0);
    const QString even = "routing." + to_qstring(facts->routers[0].router) + ".imbalance",
                  uneven = "routing." + to_qstring(facts->routers[1].router) + ".imbalance";
    const CompareModel model = make_compare(comparison, "a", "b");
    int found = 0;
    for (const CompareSection& section : model.sections)
      for (const CompareRow& row : section.rows) {
        if (row.path == even) {
          QVERIFY(row.figure.within_chance == true && row.figure.significant == false && *row.figure.difference != 0);
          QVERIFY(row.meaning == Meaning::within_chance && row.tip.contains("even routers"));
          QCOMPARE(color_of(row.meaning, Theme::light()), Theme::light().faint);
          ++found;
        } else if (row.path == uneven) {
          QVERIFY(row.figure.within_chance == false && row.figure.significant == true);
          QVERIFY(row.meaning == Meaning::worse || row.meaning == Meaning::differs);
          ++found;
        } else if (row.path.contains(".load.")) {
          QVERIFY(!row.figure.within_chance);  // counts of branches are not judged
        }
      }
    QCOMPARE(found, 2);
    QCOMPARE(text_of(Meaning::within_chance), QString("within chance"));
    QVERIFY(to_json(comparison).find("\"within_chance\": true") != std::string::npos);
  }

  void the_lift_of_rare_pairs_has_its_other_colour() {
    const auto following = read_routing_flow(following_, 1, {0, -1}, {}, 1000);
    const PairMatrix lift = make_pairs(following->transitions, "a", "b", PairValue::lift, false);
    for (int from = 0; from < 4; ++from)
      for (int to = 0; to < 4; ++to)
        QVERIFY(!lift.is_grey(from, to) && (lift.tone[lift.at(from, to)] > 0) == (from == to));
    // A pair that no cell took is one too, if chance has it.
    PairedTokens none = kFollowing;
    none[0][0] += none[0][3], none[0][3] = 0;
    const auto flow = read_routing_flow(planted_session(folder_, "none", none), 1, {0, -1}, {}, 1000);
    QCOMPARE(flow->transitions.absent.size(), size_t{1});
    const PairMatrix absent = make_pairs(flow->transitions, "a", "b", PairValue::lift, false);
    QVERIFY(absent.beside_chance(0, 3) == PairBeside::more_rarely && absent.tone[absent.at(0, 3)] == -1.f);
    QCOMPARE(make_table(*flow).rows.size(), size_t{16});
  }

  void ribbons_that_loads_alone_explain_are_grey() {
    const auto skewed = read_routing_flow(skewed_, 1, {0, -1}, {}, 1000),
               following = read_routing_flow(following_, 1, {0, -1}, {}, 1000);
    const FlowRibbons by_loads = make_ribbons(*skewed), followed = make_ribbons(*following);
    QCOMPARE(by_loads.ribbons.size(), size_t{16});
    for (const FlowRibbons::Ribbon& r : by_loads.ribbons) QCOMPARE(r.beside, PairBeside::within);
    for (const FlowRibbons::Ribbon& r : followed.ribbons)
      QCOMPARE(r.beside, r.from == r.to ? PairBeside::more_often : PairBeside::more_rarely);
    QVERIFY(by_loads.has_grey() && flow_caption(by_loads).contains("grey: within chance"));
    QVERIFY(!followed.has_grey() && !flow_caption(followed).contains("grey: within chance"));
    // The same ribbons in colour are another picture.
    TransitionsPicture picture;
    picture.set_data({}, by_loads, {});
    const QImage grey = draw(picture, {720, 480});
    FlowRibbons coloured = by_loads;
    for (FlowRibbons::Ribbon& r : coloured.ribbons) r.beside = PairBeside::more_often;
    picture.set_data({}, coloured, {});
    QVERIFY(grey != draw(picture, {720, 480}));
    // The strongest ones among too many keep their verdict.
    QVERIFY(std::ranges::all_of(make_ribbons(*following, 4).ribbons,
                                [](const auto& r) { return r.beside == PairBeside::more_often; }));
  }
};

STORMCELL_TEST(ChanceInViewsTest)

}  // namespace stormcell::views

#include "chance_test.moc"
