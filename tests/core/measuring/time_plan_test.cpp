// Tests the planner of time with a clock that the test sets; nothing is executed.
#include "core/measuring/time_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/measuring/mirrored.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Stage kInOrder[] = {Stage::thresholds, Stage::profile, Stage::passes, Stage::measure, Stage::verify,
                              Stage::again,      Stage::figures, Stage::exits,  Stage::record};

/// Seconds that a test sets.
struct SetClock {
  double now = 100;
  TimePlan plan(double limit) {
    return {limit, 100, [this] { return now; }};
  }
};

std::vector<int64_t> numbers(int64_t count, int64_t first = 0, int64_t by = 1) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(first + by * i);
  return list;
}

}  // namespace

class TimePlanTest : public QObject {
  Q_OBJECT
 private slots:
  void without_a_limit_everything_is_allowed() {
    SetClock clock;
    const TimePlan plan = clock.plan(0);
    clock.now = 1e6;
    QVERIFY(!plan.limited() && plan.remaining() == kInfinity);
    for (const Stage stage : kInOrder) QVERIFY(plan.allowed(stage) == kInfinity);
    QCOMPARE(plan.part(2).remaining(), kInfinity);
  }

  void stages_that_take_what_they_may_end_with_the_limit() {
    for (const double limit : {1., 60., 3600.}) {
      SetClock clock;
      const TimePlan plan = clock.plan(limit);
      clock.now += 0.1 * limit;  // the model was opened
      for (const Stage stage : kInOrder) {
        QVERIFY(plan.allowed(stage) > 0 && plan.allowed(stage) <= plan.remaining());
        clock.now += plan.allowed(stage);
      }
      QVERIFY2(std::fabs(plan.spent() - limit) < 1e-9 * limit, std::to_string(plan.spent()).c_str());
    }
  }

  void what_a_stage_leaves_is_the_others() {
    SetClock clock;
    const TimePlan plan = clock.plan(60);
    const double before = plan.allowed(Stage::measure);
    // No time was spent until the passes were found, so measuring has its share of all the time left.
    clock.now += 0.5;
    QVERIFY(plan.allowed(Stage::measure) > before * 0.98);
    TimePlan other = clock.plan(60);
    other.skip(Stage::thresholds), other.skip(Stage::exits), other.skip(Stage::record);
    QVERIFY(other.allowed(Stage::measure) > plan.allowed(Stage::measure));
    QCOMPARE(other.allowed(Stage::exits), 0.);
  }

  void a_limit_that_is_spent_allows_nothing() {
    SetClock clock;
    const TimePlan plan = clock.plan(5);
    clock.now += 7;
    QCOMPARE(plan.remaining(), 0.);
    for (const Stage stage : kInOrder) QCOMPARE(plan.allowed(stage), 0.);
  }

  /// Earlier stages leave the time of later work that always runs.
  void work_that_is_never_left_out_has_its_time() {
    SetClock clock;
    TimePlan plan = clock.plan(40);
    const double shared = plan.allowed(Stage::profile);
    plan.reserve_least(1, 0.5, 1, false);
    QCOMPARE(plan.least(), 2 + 1 + 4 + 4 + 10 + 2 + 1.);
    QVERIFY(plan.allowed(Stage::profile) < shared);
    for (const Stage stage : kInOrder) clock.now += plan.allowed(stage);
    QVERIFY2(std::fabs(plan.spent() - 40) < 1e-9, std::to_string(plan.spent()).c_str());
    // Little time is left: the oracle's batch keeps its ten seconds until nothing else is to be had.
    clock.now = 100 + 40 - 14;
    QVERIFY(plan.allowed(Stage::verify) >= 10);
    plan.skip(Stage::record);
    QCOMPARE(plan.least(), 23.);
  }

  void plans_that_take_long_to_make_are_not_all_tried() {
    TryChoice choice{3, 3, 0.01, false, false, 10, 8};
    QVERIFY(way_of_trying(choice) == Trying::all);
    choice.prepare = 3;
    QVERIFY(way_of_trying(choice) != Trying::all);
  }

  void two_phases_share_what_is_left() {
    SetClock clock;
    const TimePlan plan = clock.plan(60);
    clock.now += 10;
    const TimePlan first = plan.part(2);
    QCOMPARE(first.remaining(), 25.);
    clock.now += 25;
    QCOMPARE(first.remaining(), 0.);
    QCOMPARE(plan.part(1).remaining(), 25.);
  }

  /// Between nothing that applies and everything that is then left out again.
  void the_probable_time_lies_inside_its_range() {
    for (const double batch : {0.001, 0.05, 1.}) {
      ExpectedWork w;
      w.opened = 1, w.batch = batch, w.compile = 1, w.batches = 16, w.passes = 6, w.measure = 8, w.verify = 10;
      const ExpectedSeconds s = expected_seconds(w);
      QVERIFY(s.low < s.likely && s.likely < s.high);
      QVERIFY2(s.likely < s.middle() * 1.1, std::to_string(s.likely).c_str());
      w.passes = 0;
      QVERIFY(expected_seconds(w).likely < s.likely);
    }
  }

  void what_is_expected_grows_with_the_work_data() {
    QTest::addColumn<double>("more");
    const auto of = [](auto change) {
      ExpectedWork w;
      w.opened = 3, w.batch = 0.5, w.compile = 0.2, w.batches = 40, w.passes = 4, w.measure = 8, w.verify = 10;
      const ExpectedSeconds before = expected_seconds(w);
      change(w);
      return expected_seconds(w).high - before.high;
    };
    QTest::newRow("batches") << of([](ExpectedWork& w) { w.batches *= 2; });
    QTest::newRow("slow batches") << of([](ExpectedWork& w) { w.batch *= 2; });
    QTest::newRow("passes") << of([](ExpectedWork& w) { w.passes += 1; });
    QTest::newRow("a budget") << of([](ExpectedWork& w) { w.ordered = true; });
    QTest::newRow("exits") << of([](ExpectedWork& w) { w.exits = true; });
    QTest::newRow("a target") << of([](ExpectedWork& w) { w.target = true; });
    QTest::newRow("measuring") << of([](ExpectedWork& w) { w.measure = 1000; });
    QTest::newRow("verification") << of([](ExpectedWork& w) { w.verify *= 2; });
    QTest::newRow("opening") << of([](ExpectedWork& w) { w.opened += 10; });
  }
  void what_is_expected_grows_with_the_work() {
    QFETCH(double, more);
    QVERIFY2(more > 0, std::to_string(more).c_str());
  }

  void a_range_begins_below_its_end_and_counts_what_was_spent() {
    for (const int64_t batches : {1, 7, 5000})
      for (const double batch : {1e-4, 0.1, 30.})
        for (const bool ordered : {false, true}) {
          ExpectedWork w;
          w.opened = 2, w.batch = batch, w.batches = batches, w.passes = 3, w.ordered = ordered, w.measure = 1,
          w.verify = 1;
          const ExpectedSeconds s = expected_seconds(w);
          QVERIFY(s.low >= 2 && s.high >= s.low && s.middle() >= s.low);
          // Every batch is profiled in any case.
          QVERIFY(s.low >= static_cast<double>(batches) * batch);
        }
  }

  /// Under a budget of weights, eight rounds of stretches for 5 passes and each alone, at half a second a batch, take
  /// minutes: 21 turns of three batches, eight times.
  void a_budgeted_run_of_minutes_is_foreseen() {
    ExpectedWork w;
    w.opened = 5, w.batch = 0.7, w.batches = 16, w.passes = 5, w.ordered = true, w.measure = 8, w.verify = 10;
    QVERIFY(expected_seconds(w).high > 8 * 21 * 3 * 0.7 && expected_seconds(w).middle() > kLongSeconds);
    QVERIFY(way_of_trying({5, 4, 0.7, true, true, kInfinity, kLeastRounds}) == Trying::briefly);
  }

  void plans_are_tried_as_time_allows_data() {
    QTest::addColumn<int>("plans");
    QTest::addColumn<int>("alone");
    QTest::addColumn<bool>("is_long");
    QTest::addColumn<double>("allowed");
    QTest::addColumn<int>("way");
    const auto row = [](const char* name, int plans, int alone, bool is_long, double allowed, Trying way) {
      QTest::newRow(name) << plans << alone << is_long << allowed << static_cast<int>(way);
    };
    // An execution takes a second; a round of n plans 2n + 2 of them.
    row("no limit", 4, 3, false, kInfinity, Trying::all);
    row("no limit, and long", 4, 3, true, kInfinity, Trying::briefly);
    row("one pass, and long", 1, 0, true, kInfinity, Trying::all);
    row("nothing applied", 0, 0, true, kInfinity, Trying::all);
    row("all of it fits", 4, 3, false, 8 * 16, Trying::all);
    row("all of it just does not fit", 4, 3, false, 8 * 16 - 1, Trying::briefly);
    row("few rounds fit", 4, 3, false, 4 * 10 + 8 * 4, Trying::briefly);
    row("few rounds do not fit", 4, 3, false, 4 * 10 + 8 * 4 - 1, Trying::together);
    row("nothing fits", 4, 3, false, 0, Trying::together);
    row("one pass fits", 1, 0, false, 8 * 4, Trying::all);
    row("one pass does not", 1, 0, false, 8 * 4 - 1, Trying::together);
  }
  void plans_are_tried_as_time_allows() {
    QFETCH(int, plans);
    QFETCH(int, alone);
    QFETCH(bool, is_long);
    QFETCH(double, allowed);
    QFETCH(int, way);
    const Trying found = way_of_trying(
        {static_cast<size_t>(plans), static_cast<size_t>(alone), 1, false, is_long, allowed, kLeastRounds});
    QCOMPARE(static_cast<int>(found), way);
  }

  void batches_that_fit_are_of_both_parts_and_spread_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<bool>("strided");
    QTest::addColumn<int>("most");
    for (const bool strided : {true, false})
      for (const int count : {2, 4, 5, 16, 157})
        for (const int most : {0, 1, 2, 3, 8, 40, 1000})
          QTest::addRow("%s, %d of %d", strided ? "strided" : "first", most, count) << count << strided << most;
  }
  void batches_that_fit_are_of_both_parts_and_spread() {
    QFETCH(int, count);
    QFETCH(bool, strided);
    QFETCH(int, most);
    std::vector<int64_t> profiled, measured;
    for (int64_t b = 0; b < count; ++b)
      (strided ? b % 4 == 0 : b < (count + 3) / 4) ? profiled.push_back(b) : measured.push_back(b);
    const FittingBatches fitting = batches_that_fit(profiled, measured, most);
    const std::vector<int64_t> all = fitting.all();
    QCOMPARE(static_cast<int>(all.size()), std::clamp(most, 2, count));
    QVERIFY(!fitting.profiled.empty() && !fitting.measured.empty());
    QVERIFY(std::is_sorted(all.begin(), all.end()) && std::set(all.begin(), all.end()).size() == all.size());
    const auto within = [](const std::vector<int64_t>& some, const std::vector<int64_t>& of) {
      return std::includes(of.begin(), of.end(), some.begin(), some.end());
    };
    QVERIFY(within(fitting.profiled, profiled) && within(fitting.measured, measured));
    // No gap between the measured batches is much larger than an even one.
    const auto even = static_cast<double>(measured.size()) / static_cast<double>(fitting.measured.size());
    for (size_t i = 1; i < fitting.measured.size(); ++i) {
      const auto place = [&](size_t at) {
        return std::find(measured.begin(), measured.end(), fitting.measured[at]) - measured.begin();
      };
      QVERIFY(static_cast<double>(place(i) - place(i - 1)) <= even + 1);
    }
  }

  void one_batch_is_both_parts() {
    const FittingBatches one = batches_that_fit({0}, {0}, 0);
    QVERIFY(one.profiled == numbers(1) && one.measured == numbers(1) && one.all() == numbers(1));
  }

  /// A clock that each execution moves on by a second.
  void measuring_ends_in_time() {
    double now = 0;
    int executions = 0;
    MirroredJob job{.plans = 3, .batches = numbers(20), .seconds = 1};
    job.clock = [&] { return now; };
    job.execute = [&](size_t, int64_t) {
      now += 1, ++executions;
      return TimedExecution(1000);
    };
    // A chain of three plans is 8 executions.
    const auto ran = [&](double most) {
      now = 0, executions = 0;
      job.most_seconds = most;
      const MirroredTimes times = measure_mirrored(job, {});
      return times.chains.size();
    };
    QCOMPARE(ran(kInfinity), static_cast<size_t>(kLeastRounds));
    QCOMPARE(ran(17), size_t{3});
    QCOMPARE(ran(0), size_t{1});
    QCOMPARE(executions, 8);
    job.least_chains = 4;
    QCOMPARE(ran(kInfinity), size_t{4});
  }
};

STORMCELL_TEST(TimePlanTest)

}  // namespace stormcell::testing

#include "time_plan_test.moc"
