// The timeline: level of detail against brute force, statistics, keys and drags.
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>
#include <random>
#include <set>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/counts.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "views/drawing/theme.h"
#include "views/timeline/timeline_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

TimelineLane random_lane(uint32_t seed, size_t events, uint32_t steps) {
  stormcell::testing::Drawn<std::mt19937> random(seed);
  TimelineLane lane;
  int64_t at = 0;
  for (size_t i = 0; i < events; ++i) {
    at += static_cast<int64_t>(random() % 400);
    const auto length = static_cast<uint32_t>(random() % 40 == 0 ? random() % 20000 : random() % 300);
    lane.add(at, at + length, static_cast<uint32_t>(random() % steps));
    at += length;
  }
  return lane;
}

Timeline random_timeline() {
  Timeline t;
  t.steps = {{"a", "linear"}, {"b", "attention"}, {"c", "route", 0, -1}, {"d", "linear", 0, 3, 2e6, 4096}};
  t.routers = {"encoder.0"};
  for (const uint32_t seed : {1u, 2u}) {
    t.workers.push_back(random_lane(seed, 3000, 4));
    t.events += 3000;
    t.length_ns = std::max(t.length_ns, t.workers.back().end_ns(2999));
  }
  t.batches = t.end_batch = 2;
  t.spans.add(0, t.length_ns / 2, 0), t.spans.add(t.length_ns / 2, t.length_ns, 1);
  return t;
}

}  // namespace

class TimelineTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void every_event_on_show_is_in_exactly_one_bar() {
    const TimelineLane lane = random_lane(7, 5000, 4);
    stormcell::testing::Drawn<std::mt19937> random(3);
    for (int round = 0; round < 300; ++round) {
      const double length = static_cast<double>(lane.end_ns(lane.size() - 1)), a = length * (random() % 1000) / 1000;
      const TimeWindow window{a, a + 200 + length * std::pow(0.5, random() % 16)};
      const double width = 50 + random() % 1500;
      const auto bars = make_bars(TimelineEvents(lane), window, width);
      QVERIFY(bars.size() <= static_cast<size_t>(width) + 2);
      size_t expected = lane.size(), last = 0;
      for (size_t i = 0; i < lane.size(); ++i)
        if (static_cast<double>(lane.begin_ns[i]) < window.end_ns &&
            static_cast<double>(lane.end_ns(i)) > window.begin_ns) {
          if (expected == lane.size()) expected = i;
          last = i;
        }
      if (expected == lane.size()) continue;
      // No gap and no overlap: bars follow each other and hold all that is on show.
      for (size_t b = 1; b < bars.size(); ++b) QCOMPARE(bars[b].first, bars[b - 1].first + bars[b - 1].count);
      QVERIFY(bars.front().first <= expected);
      QVERIFY(bars.back().first + bars.back().count > last);
      for (const TimelineBar& bar : bars) {
        QVERIFY(bar.to >= bar.from && bar.to <= width + 1 && bar.from >= -1);
        // A wide bar is never hidden in a heap.
        if (bar.count > 1)
          for (size_t i = bar.first; i < bar.first + bar.count; ++i)
            QVERIFY(window.x(static_cast<double>(lane.end_ns(i)), width) -
                        window.x(static_cast<double>(lane.begin_ns[i]), width) <
                    2.001);
      }
    }
  }

  void places_and_times_map_to_each_other() {
    TimeWindow w{1000, 5000};
    QCOMPARE(w.ns(w.x(2500, 800), 800), 2500.0);
    const TimeWindow closer = w.zoomed(2000, 2, 1e6);
    QVERIFY(std::abs(closer.x(2000, 800) - w.x(2000, 800)) < 1e-6);  // what is under the pointer stays there
    QCOMPARE(w.zoomed(2000, 1e-9, 1e6).begin_ns, 0.0);
    QCOMPARE(w.zoomed(2000, 1e-9, 1e6).end_ns, 1e6);
    QVERIFY(w.zoomed(2000, 1e9, 1e6).end_ns - w.zoomed(2000, 1e9, 1e6).begin_ns >= 100);
    QCOMPARE(w.moved(-1e9, 1e6).begin_ns, 0.0);
    QCOMPARE(w.moved(1e9, 1e6).end_ns, 1e6);
  }

  void statistics_are_those_of_brute_force() {
    const Timeline t = random_timeline();
    for (const auto& [from, to] :
         {std::pair{0.0, t.length_ns + 1.0}, {t.length_ns * 0.2, t.length_ns * 0.5}, {5.0, 5.0}}) {
      const auto all = statistics(t, from, to);
      double share = 0;
      for (const OpStatistics& s : all) {
        std::vector<double> lengths;
        for (const TimelineLane& lane : t.workers)
          for (size_t i = 0; i < lane.size(); ++i)
            if (QString::fromStdString(t.steps[lane.step[i]].op) == s.op &&
                static_cast<double>(lane.begin_ns[i]) >= from && static_cast<double>(lane.begin_ns[i]) < to)
              lengths.push_back(static_cast<double>(lane.length_ns[i]));
        std::sort(lengths.begin(), lengths.end());
        QCOMPARE(s.count, static_cast<qlonglong>(lengths.size()));
        QCOMPARE(s.longest_ns, lengths.back());
        QCOMPARE(s.p95_ns, lengths[static_cast<size_t>(std::ceil(0.95 * static_cast<double>(lengths.size()))) - 1]);
        share += s.share;
      }
      QVERIFY(all.empty() ? from == to : std::abs(share - 1) < 1e-9);
    }
  }

  void rows_hold_every_event_once_by_worker_and_once_by_operator() {
    const Timeline t = random_timeline();
    size_t workers = 0, ops = 0, routers = 0;
    for (const TimelineRow& row : make_rows(t)) {
      for (size_t i = 0; i < row.events.size(); ++i) {
        if (i > 0) QVERIFY(row.events.begin_ns(i) >= row.events.begin_ns(i - 1));
        if (row.kind == TimelineRow::Kind::op)
          QCOMPARE(QString::fromStdString(t.steps[row.events.step(i)].op), row.name);
        if (row.kind == TimelineRow::Kind::router) QVERIFY(t.steps[row.events.step(i)].router == 0);
      }
      if (row.kind == TimelineRow::Kind::thread) workers += row.events.size();
      if (row.kind == TimelineRow::Kind::op) ops += row.events.size();
      if (row.kind == TimelineRow::Kind::router) routers += row.events.size();
    }
    QCOMPARE(workers, size_t{6000});
    const auto names = make_run_rows(t);
    QCOMPARE(names[1].name, QString("thread 0"));
    QCOMPARE(names[2].name, QString("thread 1"));
    QCOMPARE(ops, size_t{6000});
    QVERIFY(routers > 0 && routers < 6000);
  }

  void the_view_reads_a_session_and_follows_keys() {
    const std::string session = make_session(folder_.filePath("a.storm").toStdString(), 6);
    TimelineView view;
    run_load(view, context_of(session));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    draw(*view.picture(), {720, 400});
    const TimeWindow before = view.window();
    QTest::keyClick(view.picture(), Qt::Key_W);
    QVERIFY(view.window().end_ns - view.window().begin_ns < before.end_ns - before.begin_ns);
    QTest::keyClick(view.picture(), Qt::Key_0);
    QVERIFY(view.table().rows.size() > 0);
    const auto all = std::get<qlonglong>(view.table().rows[0][1]);
    QSignalSpy wanted(&view, &View::load_wanted);
    view.choose_range(0, view.window().end_ns / 3);
    QCOMPARE(wanted.count(), 1);
    run_load(view, context_of(session));
    QVERIFY(view.table().rows.empty() || std::get<qlonglong>(view.table().rows[0][1]) < all);
    TimelineView nothing;
    run_load(nothing, {});
    QVERIFY(!nothing.has_content());
  }

  void the_first_events_are_drawn_before_the_rest_is_read() {
    const std::string session = make_session(folder_.filePath("long.storm").toStdString(), 6);
    TimelineView whole, view;
    run_load(whole, context_of(session));
    view.set_first_events(1);
    QSignalSpy wanted(&view, &View::load_wanted);
    run_load(view, context_of(session));
    QVERIFY(view.has_content());
    QCOMPARE(wanted.count(), 1);
    const QLabel* facts = view.findChild<QLabel*>("facts");
    QVERIFY2(facts && facts->text().endsWith("reading on"), facts ? qPrintable(facts->text()) : "");
    const auto steps = [](const TimelineView& v) { return std::get<qlonglong>(v.table().rows[0][1]); };
    QVERIFY(steps(view) < steps(whole));
    // Who has come closer meanwhile stays there.
    draw(*view.picture(), {720, 400});
    QTest::keyClick(view.picture(), Qt::Key_W);
    const TimeWindow closer = view.window();
    run_load(view, context_of(session));
    QCOMPARE(wanted.count(), 1);
    QCOMPARE(steps(view), steps(whole));
    QVERIFY(!facts->text().contains("reading on"));
    QCOMPARE(view.window().end_ns, closer.end_ns);
    // Not of another run's making: everything again.
    TimelineView untouched;
    untouched.set_first_events(1);
    run_load(untouched, context_of(session));
    run_load(untouched, context_of(session));
    QCOMPARE(untouched.window().end_ns, whole.window().end_ns);
  }

  void the_baseline_of_a_run_is_the_recording_of_the_same_batches_before_it() {
    SessionOverview session;
    const auto add = [&](const char* kind, const char* settings, const char* device = "cpu") {
      RunLine line;
      line.id = std::ssize(session.runs) + 1, line.kind = kind, line.settings = settings, line.device = device;
      line.batches = 4, line.phase = "forward";
      session.runs.push_back(line);
    };
    add("profile", R"({"data":"a","batch":8})");
    add("profile", R"({"data":"a","batch":4})");
    add("profile", R"({"data":"a","batch":8})", "another");
    add("optimize", R"({"data":"a","batch":8,"seconds":2})");
    add("profile", R"({"data":"a","batch":8})");
    add("optimize", R"({"data":"b","batch":8})");
    QVERIFY(baseline_of(session, 4) && baseline_of(session, 4)->id == 1);
    QVERIFY(!baseline_of(session, 6));                              // other data
    QVERIFY(!baseline_of(session, 1) && !baseline_of(session, 5));  // recordings are baselines themselves
    QVERIFY(!baseline_of(session, 99));
    session.runs[0].phase = "decode";
    QVERIFY(!baseline_of(session, 4));
  }

  void the_baseline_and_another_run_lie_beneath() {
    const std::string path = folder_.filePath("baseline.storm").toStdString(),
                      other = make_session(folder_.filePath("beside.storm").toStdString(), 6);
    SessionWriter writer(path, some_model());
    for (const char* kind : {"profile", "optimize"}) {
      RunStart start = some_run("of both");
      start.kind = kind;
      auto run = writer.begin_run(start);
      record_batches(*run, start.layout, 0, 6);
      run->finish(RunStatus::finished, "{}");
    }
    writer.close();
    Context context = context_of(path, 2);
    context.session = std::make_shared<const SessionOverview>(open_session(path));
    TimelineView view, alone, both;
    run_load(view, context);
    const auto facts = [](const TimelineView& v) { return v.findChild<QLabel*>("facts")->text(); };
    QVERIFY2(facts(view).contains("baseline: #1, each from its first step"), qPrintable(facts(view)));
    // Its lanes are seen: the picture is another one than without it.
    run_load(alone, context_of(path, 2));
    QVERIFY(!facts(alone).contains("baseline"));
    QVERIFY(draw(*view.picture(), {720, 600}) != draw(*alone.picture(), {720, 600}));
    context.other = context_of(other).main, context.other.title = "beside #1";
    run_load(both, context);
    QVERIFY2(facts(both).contains("baseline: #1; other: beside #1"), qPrintable(facts(both)));
    // The recording itself has none beneath it.
    context = context_of(path, 1);
    context.session = std::make_shared<const SessionOverview>(open_session(path));
    run_load(alone, context);
    QVERIFY(!facts(alone).contains("baseline"));
  }

  void operators_of_a_network_of_pictures_differ_in_colour() {
    // By the hash of their names alone these were all orange.
    const std::vector<std::string> ops{"unfold", "conv2d",        "pool", "activation",
                                       "add",    "pixel_shuffle", "fold", "route"};
    std::set<int> colours;
    for (const std::string& op : ops) {
      QVERIFY(category_of(op) >= 0 && category_of(op) < 8);
      colours.insert(category_of(op));
    }
    QCOMPARE(colours.size(), ops.size());
  }

  void pictures_are_the_stored_ones() {
    const std::string session = make_session(folder_.filePath("golden.storm").toStdString(), 6);
    for (const bool dark : {false, true}) {
      TimelineView view;
      view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
      run_load(view, context_of(session));
      const QString trouble =
          compare_with_golden(draw(*view.picture(), {900, 400}), dark ? "timeline-dark" : "timeline-light");
      QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
    }
  }
};
STORMCELL_TEST(TimelineTest)

}  // namespace stormcell::views
#include "timeline_test.moc"
