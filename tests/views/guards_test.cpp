// Outcomes of guards: read from a session, batch by batch on the timeline, and at their routers in the graph.
#include <QTemporaryDir>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "views/graph/graph_model.h"
#include "views/timeline/timeline_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

/// Guards of a router "a.mlp" and of nothing that is known.
GuardsOfRun some_guards() {
  GuardsOfRun guards;
  guards.routers = {"a.mlp", "b.mlp"};
  guards.guards = {{"a.mlp.live", 0, 13, 3}, {"step 9", -1, 5, 0}};
  return guards;
}

RouterGraph two_routers() {
  RouterGraph graph;
  graph.batches = graph.end_batch = 1;
  for (const char* name : {"a.mlp", "b.mlp"})
    graph.routers.push_back({{name, "a", "switch-top1", "token", 2, 1, -1, -1}, 4, {1, 3}, {0, 0}});
  return graph;
}

}  // namespace

class GuardsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_;

 private slots:
  void initTestCase() { session_ = make_session(folder_.filePath("a.storm").toStdString(), 9); }

  void misses_are_those_of_their_batches() {
    // The fixture: three hits a batch, a miss in every seventh.
    const auto guards = read_guards(session_, 1, {0, -1});
    QCOMPARE(guards->guards.size(), size_t{1});
    QCOMPARE(guards->hits(), int64_t{27});
    QCOMPARE(guards->misses(), int64_t{2});
    QCOMPARE(guards->batches.size(), size_t{9});
    for (const GuardsOfBatch& of : guards->batches) QCOMPARE(of.misses, int64_t{of.batch % 7 == 0});
    QCOMPARE(read_guards(session_, 1, {7, 9})->batches.front().batch, int64_t{7});
  }

  void a_lane_has_a_bar_for_each_batch_over_its_time() {
    const auto timeline = read_timeline(session_, 1, {0, -1}, 1'000'000);
    const std::vector<GuardBar> bars = guard_bars(*timeline, *read_guards(session_, 1, {0, -1}));
    QCOMPARE(bars.size(), timeline->spans.size());
    for (size_t i = 0; i < bars.size(); ++i) {
      QCOMPARE(bars[i].begin_ns, timeline->spans.begin_ns[i]);
      QCOMPARE(bars[i].of.batch, int64_t{timeline->spans.step[i]});
    }
    QCOMPARE(guards_text(bars[0].of), QString("3 held, 1 missed"));
    QCOMPARE(guards_text(bars[1].of), QString("3 held"));
    const auto end = static_cast<double>(bars[1].begin_ns);
    QCOMPARE(guards_between(bars, 0, end).hits, int64_t{3});
    QCOMPARE(guards_between(bars, 0, end).misses, int64_t{1});
  }

  void the_table_of_the_timeline_counts_them() {
    TimelineView view;
    run_load(view, context_of(session_));
    const QString csv = to_csv(view.table());
    QVERIFY2(csv.contains("guards that held,27") && csv.contains("guards that missed,2"), qPrintable(csv));
    QVERIFY(!to_csv(make_table(std::vector<OpStatistics>())).contains("guards"));
  }

  void a_place_has_the_guards_of_its_routers() {
    GraphPage page = make_graph_page(two_routers(), GraphValue::of_all);
    QVERIFY(!guards_of(page, 0));
    page.guards = some_guards();
    const auto first = guards_of(page, 0);
    QVERIFY(first && first->hits == 13 && first->misses == 3);
    QVERIFY(!guards_of(page, 1));
    QVERIFY2(describe_place(page, 0).contains("13 held, 3 missed"), qPrintable(describe_place(page, 0)));
    const Table table = make_branch_table(page);
    QCOMPARE(to_text(table.rows.front().back()), QString("3"));
    QCOMPARE(to_text(table.rows.back().back()), QString());
  }
};
STORMCELL_TEST(GuardsTest)

}  // namespace stormcell::views
#include "guards_test.moc"
