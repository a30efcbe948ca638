// Chance in views: what even routers can do is grey, what they cannot is not.
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <fstream>

#include "core/imports/import.h"
#include "core/readings/run_facts.h"
#include "tests/testing/golden.h"
#include "tests/testing/testing.h"
#include "tests/views/overview_fixture.h"
#include "views/drawing/theme.h"
#include "views/heatmap/heatmap_model.h"
#include "views/heatmap/heatmap_painter.h"
#include "views/overview/overview_page.h"
#include "views/overview/overview_table.h"
#include "views/transitions/transitions_model.h"
#include "views/transitions/transitions_painter.h"
#include "views/transitions/transitions_picture.h"

namespace stormcell::views {
namespace {
using namespace stormcell::testing;

/// [branch of the first router][branch of the second one]: tokens that took both. Rows have 108, 95, 102 and 95 of 400.
using PairedTokens = std::array<std::array<int, 4>, 4>;
/// The second router is skewed, 200, 80, 60 and 60, whatever the first one chose.
constexpr PairedTokens kSkewed = {{{54, 22, 16, 16}, {47, 19, 15, 14}, {51, 20, 15, 16}, {48, 19, 14, 14}}};
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
    const auto tint = [](const QColor& color) {
      const auto [least, most] = std::minmax({color.red(), color.green(), color.blue()});
      return most - least;
    };
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      const QImage tones = tone_image(matrix, *theme);
      for (int branch = 0; branch < 4; ++branch) QVERIFY(tint(tones.pixelColor(branch, 0)) <= 2);
      QVERIFY(tint(tones.pixelColor(0, 1)) > 10);
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
