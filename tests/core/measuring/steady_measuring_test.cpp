// Measurements on a machine whose ceilings move as the case says.
#include "core/measuring/steady_measuring.h"

#include <array>
#include <limits>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Rates of memory in GB/s, the last of which stays: first before measuring, then after each measurement.
class MovingMachine {
 public:
  explicit MovingMachine(std::vector<double> rates) : rates_(std::move(rates)) { read(); }
  ProbedMachine probed() {
    return {readings_,
            [this](bool brief) {
              seconds_ += brief ? 0.25 : 1;
              ++probes_;
              read();
              if (flickers_) ++at_;
            },
            [this] {
              DeviceFigures figures;
              figures.read_readings = {readings().first, readings().second};
              return figures;
            },
            [this] { return seconds_; }};
  }
  std::pair<double, double> readings() const {
    return {readings_.halves()[0].read_gbs, readings_.halves()[1].read_gbs};
  }
  size_t probes() const { return probes_; }
  double seconds() const { return seconds_; }
  void wait(double seconds) { seconds_ += seconds; }
  void move() { ++at_; }
  /// Moves with each reading from now on.
  void flicker() { flickers_ = true; }

 private:
  void read() { readings_.add({.read_gbs = rates_[std::min(at_, rates_.size() - 1)]}); }

  std::vector<double> rates_;
  CeilingReadings readings_;
  size_t probes_ = 0, at_ = 0;
  bool flickers_ = false;
  double seconds_ = 0;
};

/// Two processors for a second, of which others kept so many busy.
void add_others(SteadyMeasuring& steady, double busy) {
  steady.add_load({.processors = 2}, {.processors = 2, .busy = 1 + busy, .idle = 1 - busy, .own = 1});
}

}  // namespace

class SteadyMeasuringTest : public QObject {
  Q_OBJECT
 private slots:
  void a_measurement_is_repeated_while_the_ceilings_move_data() {
    QTest::addColumn<QList<double>>("rates");
    QTest::addColumn<double>("left");
    QTest::addColumn<double>("others");
    QTest::addColumn<int>("measured");
    QTest::addColumn<double>("before");
    QTest::addColumn<double>("after");
    const auto row = [](const char* name, const QList<double>& rates, double left, double others, int measured,
                        double before, double after) {
      QTest::newRow(name) << rates << left << others << measured << before << after;
    };
    row("steady", {35, 36}, kNoLimit, 0, 1, 35, 36);
    row("by 15 %", {100, 115}, kNoLimit, 0, 1, 100, 115);
    row("once", {35, 60, 61}, kNoLimit, 0, 2, 60, 61);
    row("twice", {35, 60, 35, 36}, kNoLimit, 0, 3, 35, 36);
    row("always", {35, 60, 35, 60, 35, 60}, kNoLimit, 0, 5, 35, 60);
    row("never back", {60, 35, 36, 35}, kNoLimit, 0, 2, 35, 36);
    row("beside others", {35, 60, 61}, kNoLimit, 0.6, 1, 35, 60);
    row("beside few others", {35, 60, 61}, kNoLimit, 0.4, 2, 60, 61);
    row("without time", {35, 60, 61}, 0, 0, 1, 35, 60);
  }
  void a_measurement_is_repeated_while_the_ceilings_move() {
    QFETCH(QList<double>, rates);
    QFETCH(double, left);
    QFETCH(double, others);
    QFETCH(int, measured);
    MovingMachine machine({rates.begin(), rates.end()});
    SteadyMeasuring steady(machine.probed(), {true, [left] { return left; }});
    int runs = 0;
    steady.run([&] { ++runs, add_others(steady, others), machine.move(); });
    const size_t probes = machine.probes();
    steady.end();
    QCOMPARE(runs, measured);
    QCOMPARE(machine.probes(), probes);
    QTEST(machine.readings().first, "before");
    QTEST(machine.readings().second, "after");
    // The load is that of the last repetition alone.
    QVERIFY(qFuzzyCompare(1 + steady.others().share().value_or(0), 1 + others / 2));
    QCOMPARE(steady.repetitions_text().empty(), measured == 1);
  }

  void all_measurements_together_are_repeated_four_times() {
    MovingMachine machine({35, 60, 61, 35, 36, 60, 35, 60});
    SteadyMeasuring steady(machine.probed(), {true, [] { return kNoLimit; }});
    int runs = 0;
    for (int part = 0; part < 3; ++part) steady.run([&] { ++runs, machine.move(); });
    QCOMPARE(runs, 7);
    steady.end();
    QVERIFY2(steady.repetitions_text().find("measured again 4 times") != std::string::npos,
             steady.repetitions_text().c_str());
    // The last one moved, and no later reading may hide it.
    QCOMPARE(machine.readings(), std::pair(35.0, 60.0));
    add_others(steady, 0);
    steady.end();
    QCOMPARE(machine.readings(), std::pair(35.0, 60.0));
  }

  void ceilings_are_read_between_executions_in_a_sixth_of_the_time() {
    MovingMachine machine({60});
    SteadyMeasuring steady(machine.probed(), {true, [] { return kNoLimit; }});
    constexpr double kExecution = 0.1, kMeasuring = 100;
    steady.run([&] {
      for (double t = 0; t < kMeasuring; t += kExecution) {
        machine.wait(kExecution);
        steady.probe_between();
      }
    });
    // Two more readings before it, and a long one after it.
    const double probing = machine.seconds() - 2 * 0.25 - 1 - kMeasuring;
    QVERIFY2(probing / (kMeasuring + probing) <= 1.0 / 6 && probing / (kMeasuring + probing) > 1.0 / 7,
             qPrintable(QString::number(probing)));
  }

  void a_machine_that_flickers_has_the_same_ceilings_in_both_halves() {
    // Two thirds of the readings are low, and each half has a high one.
    std::vector<double> rates;
    for (int i = 0; i < 100; ++i) rates.insert(rates.end(), {35, 60, 36});
    MovingMachine machine(rates);
    machine.flicker();
    SteadyMeasuring steady(machine.probed(), {true, [] { return kNoLimit; }});
    int runs = 0;
    steady.run([&] {
      ++runs;
      for (int i = 0; i < 8; ++i) machine.wait(10), steady.probe_between();
    });
    QCOMPARE(runs, 1);
    QCOMPARE(machine.readings(), std::pair(60.0, 60.0));
  }

  void a_ceiling_that_is_still_reached_has_not_fallen() {
    for (const bool falls : {false, true}) {
      // Three readings before measuring (the first rate is read twice), one after it; of those that follow one is high,
      // or none.
      std::vector<double> rates = {60, 60, 35, 36, 35};
      rates.push_back(falls ? 36 : 59);
      for (int i = 0; i < 20; ++i) rates.push_back(35);
      MovingMachine machine(rates);
      machine.flicker();
      SteadyMeasuring steady(machine.probed(), {true, [] { return kNoLimit; }});
      steady.run([&] { add_others(steady, 0.6); });  // beside others it is not repeated
      QCOMPARE(machine.readings(), std::pair(60.0, falls ? 35.0 : 59.0));
      QCOMPARE(machine.probes(), falls ? size_t{13} : size_t{6});
    }
  }

  void a_time_limit_leaves_a_twentieth_of_its_rest_for_readings() {
    std::vector<double> rates;
    for (double rate = 60; rate > 0.1; rate *= 0.8) rates.push_back(rate);  // no two of them agree
    for (const auto& [left, probes] : {std::pair{kNoLimit, size_t{21}}, {10.0, size_t{5}}, {0.0, size_t{3}}}) {
      MovingMachine machine(rates);
      machine.flicker();
      SteadyMeasuring steady(machine.probed(), {true, [left = left] { return left; }});
      steady.run([&] { add_others(steady, 0.6); });
      QCOMPARE(machine.probes(), probes);
    }
  }

  void halves_and_placements_of_readings() {
    CeilingReadings readings;
    QVERIFY(readings.empty() && readings.placements().empty() && readings.halves()[0].read_gbs == 0 &&
            !readings.agree());
    readings.add({.f32_gflops = 1, .read_gbs = 9, .placement = "x"});
    QCOMPARE(readings.halves()[0].read_gbs, 9.0);
    QCOMPARE(readings.halves()[1].read_gbs, 0.0);
    readings.add({.f32_gflops = 7, .read_gbs = 2, .placement = "y"});
    readings.add({.f32_gflops = 3, .read_gbs = 5, .placement = "y"});
    // Two readings came since the first, and one belongs to each half.
    QCOMPARE(readings.halves()[0].f32_gflops, 7.0);
    QCOMPARE(readings.halves()[1].f32_gflops, 3.0);
    readings.add({.f32_gflops = 8, .read_gbs = 1, .placement = "x"});
    readings.add({.f32_gflops = 2, .read_gbs = 4, .placement = "y"});
    // Each figure has its own best.
    QCOMPARE(readings.halves()[0].f32_gflops, 7.0);
    QCOMPARE(readings.halves()[0].read_gbs, 9.0);
    QCOMPARE(readings.halves()[1].f32_gflops, 8.0);
    QCOMPARE(readings.halves()[1].read_gbs, 4.0);
    QCOMPARE(readings.placements(), (std::vector<std::string>{"y", "x"}));
    QVERIFY(!readings.agree());
    // A reading before measuring is no part of its last half.
    CeilingReadings since;
    for (const double rate : {60, 59, 60}) since.add({.read_gbs = rate});
    QVERIFY(since.agree());
    since.begin();
    since.add({.read_gbs = 35});
    QCOMPARE(since.halves()[0].read_gbs, 60.0);
    QCOMPARE(since.halves()[1].read_gbs, 35.0);
    readings.keep_last();
    QCOMPARE(readings.size(), size_t{1});
    QCOMPARE(readings.halves()[0].read_gbs, 4.0);
  }

  void without_repetitions_the_machine_is_probed_once_at_the_end() {
    MovingMachine machine({35, 60, 90});
    SteadyMeasuring steady(machine.probed(), {});
    steady.run([&] { add_others(steady, 0.5), machine.move(); });
    QCOMPARE(machine.probes(), size_t{0});
    steady.end();
    steady.end();
    QCOMPARE(machine.readings(), std::pair(35.0, 60.0));
    // A later part of the measuring is judged too.
    machine.move();
    add_others(steady, 1);
    RunSummaryFigures figures;
    steady.end_in(figures);
    QCOMPARE(figures.device.read_readings, (std::array{60.0, 90.0}));
    QVERIFY(figures.other_load && qFuzzyCompare(*figures.other_load, 0.375));
  }
};
STORMCELL_TEST(SteadyMeasuringTest)

}  // namespace stormcell::testing
#include "steady_measuring_test.moc"
