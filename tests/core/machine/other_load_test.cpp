// Neighbours that take time while something is measured, by constructed counts of the system.
#include "core/machine/other_load.h"

#include <unistd.h>

#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Seconds on `processors` processors: ours, others', stolen, the rest idle.
ProcessorTimes after(double seconds, int processors, double own, double others, double stolen = 0) {
  ProcessorTimes t;
  t.processors = processors;
  t.own = own, t.busy = own + others, t.stolen = stolen;
  t.idle = seconds * processors - own - others - stolen;
  return t;
}
ProcessorTimes nothing(int processors) { return after(0, processors, 0, 0); }
std::string warning(int threads, const ProcessorTimes& end) {
  OtherLoad load;
  load.add(nothing(end.processors), end);
  return load.warning(threads);
}

}  // namespace

class OtherLoadTest : public QObject {
  Q_OBJECT
 private slots:
  void a_quiet_machine_is_not_warned_of() {
    QCOMPARE(warning(2, after(10, 2, 19.5, 0.3)), std::string());
    QCOMPARE(warning(1, after(10, 1, 9.5, 0.5)), std::string());
  }
  void what_others_take_on_processors_that_are_free_disturbs_nobody() {
    QCOMPARE(warning(2, after(10, 8, 20, 55)), std::string());
    QVERIFY(!warning(6, after(10, 8, 48, 30)).empty());
  }
  void a_neighbour_that_takes_a_steady_share_is_found_though_nothing_spreads() {
    const std::string text = warning(2, after(10, 2, 15, 5));
    QVERIFY2(
        text.find("while 2 threads measured, other processes kept 0.5 of 2 processors at work") != std::string::npos,
        text.c_str());
  }
  void time_that_other_virtual_machines_took_is_found() {
    const std::string text = warning(2, after(10, 2, 17, 0.2, 2));
    QVERIFY2(text.find("other virtual machines took 10 %") != std::string::npos, text.c_str());
  }
  void parts_add_up_and_too_little_says_nothing() {
    OtherLoad load;
    load.add(nothing(2), after(0.1, 2, 0.1, 0.1));
    QCOMPARE(load.warning(2), std::string());
    load.add(nothing(2), after(5, 2, 5, 5));
    QVERIFY(load.others() > 0.99 && load.others() < 1.01);
    QVERIFY(!load.warning(2).empty());
  }
  void the_system_s_counts_are_read_of_those_processors_that_may_be_used() {
    const Scratch root;
    root.write("proc/stat",
               "cpu  999 999 999 999 999 999 999 999 0 0\ncpu0 100 10 20 300 5 1 2 7 0 0\ncpu1 1 1 1 1 1 1 1 1 0 0\n"
               "cpu10 200 0 0 100 0 0 0 0 0 0\nintr 1 2 3\n");
    const double tick = static_cast<double>(sysconf(_SC_CLK_TCK));
    const ProcessorTimes t = processor_times(root.folder(), {0, 10});
    QCOMPARE(t.processors, 2);
    QCOMPARE(t.busy * tick, 133.0 + 200);
    QCOMPARE(t.idle * tick, 305.0 + 100);
    QCOMPARE(t.stolen * tick, 7.0);
    QCOMPARE(processor_times(root.path("none"), {0}).processors, 0);
  }
  void this_machine_says_what_it_does() {
    const ProcessorTimes before = processor_times();
    if (before.processors == 0) QSKIP("this system does not say");
    volatile double sink = 0;
    for (int i = 0; i < 30000000; ++i) sink = sink + 1;
    const ProcessorTimes end = processor_times();
    QVERIFY(end.own > before.own && end.busy + end.idle + end.stolen >= before.busy + before.idle + before.stolen);
  }
};

STORMCELL_TEST(OtherLoadTest)
#include "other_load_test.moc"
