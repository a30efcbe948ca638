// Outcomes of guards: read from a session, batch by batch on the timeline, at their routers in the graph, and what they
// cost in the overview.
#include <QTemporaryDir>
#include <cmath>
#include <set>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "views/graph/graph_model.h"
#include "views/overview/overview_view.h"
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

/// A test, a guard and its taken body, the fallback of two steps, and what comes behind both.
RunLayout guarded_layout() {
  RunLayout layout = two_stacks();
  layout.steps.clear();
  for (const char* op :
       {"linear", "branches_empty", "guard", "gather", "jump", "need_weights", "linear", "gather", "linear"}) {
    StepInfo step;
    step.name = step.op = op;
    layout.steps.push_back(step);
  }
  return layout;
}

/// Every step takes 1 ms, a test 0.25 ms. Batches whose number `misses` names run the fallback.
std::string guarded_session(const std::string& path, const std::set<int64_t>& misses) {
  const RunLayout layout = guarded_layout();
  SessionWriter writer(path, some_model());
  auto run = writer.begin_run(some_run("guarded", layout));
  Recorder recorder({run.get()});
  for (int64_t i = 0; i < 4; ++i) {
    BatchRecord& batch = recorder.begin_batch();
    fill(layout, i, {}, batch, false);
    const bool missed = misses.contains(i);
    batch.events.clear(), batch.guards = {{2, missed ? 0 : 1, missed ? 1 : 0}};
    uint64_t now = 1'000'000'000 * static_cast<uint64_t>(i + 1);
    for (const uint32_t step : missed ? std::vector<uint32_t>{0, 1, 6, 7, 8} : std::vector<uint32_t>{0, 1, 3, 8}) {
      const uint64_t begin = now;
      now += step == 1 ? 250'000 : 1'000'000;
      batch.events.push_back({begin, now, step, 0});
    }
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished, "{}");
  run.reset();
  writer.close();
  return path;
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

  void the_price_of_guards_is_that_of_their_recorded_steps() {
    const std::string some = guarded_session(folder_.filePath("some.storm").toStdString(), {1});
    const std::optional<GuardCosts> costs = read_guard_costs(some, 1);
    QVERIFY(costs && costs->hits == 3 && costs->misses == 1 && costs->batches == 4 && costs->fallbacks == 1);
    QVERIFY(costs->tests_ms && std::abs(*costs->tests_ms - 0.25) < 1e-9);
    QVERIFY(costs->fallback_ms && std::abs(*costs->fallback_ms - 2) < 1e-9);
    OverviewView view;
    run_load(view, context_of(some));
    const QString csv = to_csv(view.table());
    QVERIFY2(csv.contains("guards,tests a batch,0.25") && csv.contains("guards,a fallback,2"), qPrintable(csv));
  }

  void a_price_that_was_not_recorded_is_not_stated() {
    // If every guard misses, nothing says where the fallback ends.
    const std::string all = guarded_session(folder_.filePath("all.storm").toStdString(), {0, 1, 2, 3});
    const std::optional<GuardCosts> costs = read_guard_costs(all, 1);
    QVERIFY(costs && costs->misses == 4 && costs->tests_ms && !costs->fallback_ms);
    OverviewView view;
    run_load(view, context_of(all));
    QVERIFY(!to_csv(view.table()).contains("a fallback"));
    // The fixture's steps test no guard.
    const std::optional<GuardCosts> untested = read_guard_costs(session_, 1);
    QVERIFY(!untested || !untested->tests_ms);
  }
};
STORMCELL_TEST(GuardsTest)

}  // namespace stormcell::views
#include "guards_test.moc"
