// Measurements on a machine whose ceilings move as the case says.
#include "core/experiment/steady_measuring.h"

#include <limits>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Rates of memory in GB/s: first before measuring, then after each measurement. The last one stays.
class MovingMachine {
 public:
  explicit MovingMachine(std::vector<double> rates) : rates_(std::move(rates)) { readings_[0].read_gbs = rates_[0]; }
  ProbedMachine probed() {
    return {readings_, [this] { readings_[1].read_gbs = rates_[std::min(++probes_, rates_.size() - 1)]; },
            [this] {
              DeviceFigures figures;
              figures.read_readings = {readings_[0].read_gbs, readings_[1].read_gbs};
              return figures;
            }};
  }
  std::pair<double, double> readings() const { return {readings_[0].read_gbs, readings_[1].read_gbs}; }
  size_t probes() const { return probes_; }

 private:
  std::vector<double> rates_;
  std::array<DeviceProbe, 2> readings_;
  size_t probes_ = 0;
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
    const auto row = [](const char* name, const QList<double>& rates, double left, double others, int measured, double before,
                        double after) { QTest::newRow(name) << rates << left << others << measured << before << after; };
    row("steady", {35, 36}, kNoLimit, 0, 1, 35, 36);
    row("by 15 %", {100, 115}, kNoLimit, 0, 1, 100, 115);
    row("once", {35, 60, 61}, kNoLimit, 0, 2, 60, 61);
    row("twice", {35, 60, 35, 36}, kNoLimit, 0, 3, 35, 36);
    row("always", {35, 60, 35, 60}, kNoLimit, 0, 3, 35, 60);
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
    steady.run([&] { ++runs, add_others(steady, others); });
    steady.end();
    QCOMPARE(runs, measured);
    QCOMPARE(machine.probes(), static_cast<size_t>(measured));
    QTEST(machine.readings().first, "before");
    QTEST(machine.readings().second, "after");
    // The load is that of the last repetition alone.
    QVERIFY(qFuzzyCompare(1 + steady.others().share().value_or(0), 1 + others / 2));
    QCOMPARE(steady.repetitions_text().empty(), measured == 1);
  }

  void all_measurements_together_are_repeated_twice() {
    MovingMachine machine({35, 60, 61, 35, 36, 60});
    SteadyMeasuring steady(machine.probed(), {true, [] { return kNoLimit; }});
    int runs = 0;
    for (int part = 0; part < 3; ++part) steady.run([&] { ++runs; });
    QCOMPARE(runs, 5);
    steady.end();
    QVERIFY2(steady.repetitions_text().find("measured again 2 times") != std::string::npos, steady.repetitions_text().c_str());
    // The last one moved, and no later reading may hide it.
    QCOMPARE(machine.readings(), std::pair(35.0, 60.0));
    add_others(steady, 0);
    steady.end();
    QCOMPARE(machine.readings(), std::pair(35.0, 60.0));
  }

  void without_repetitions_the_machine_is_probed_once_at_the_end() {
    MovingMachine machine({35, 60, 90});
    SteadyMeasuring steady(machine.probed(), {});
    steady.run([&] { add_others(steady, 0.5); });
    QCOMPARE(machine.probes(), size_t{0});
    steady.end();
    steady.end();
    QCOMPARE(machine.readings(), std::pair(35.0, 60.0));
    // A later part of the measuring is judged too.
    add_others(steady, 1);
    RunSummaryFigures figures;
    steady.end_in(figures);
    QCOMPARE(figures.device.read_readings[1], 90.0);
    QVERIFY(figures.other_load && qFuzzyCompare(*figures.other_load, 0.375));
  }
};
STORMCELL_TEST(SteadyMeasuringTest)

}  // namespace stormcell::testing
#include "steady_measuring_test.moc"
