// The words about how times were measured: in how many processes, for how long, and by how much another run may differ.
#include "core/summary/measured_text.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

RunSummaryFigures measured(size_t processes, bool fresh) {
  RunSummaryFigures f;
  f.verb = "run";
  f.dataset.batches = 4;
  f.baseline.emplace();
  f.baseline->batches = 4, f.baseline->rounds = 9;
  f.measurements.resize(processes);
  for (size_t i = 1; i < processes; ++i) f.measurements[i].fresh_process = fresh;
  if (processes > 1) f.measured_again_seconds = 4.125;
  if (processes > 2) f.between_spread = 0.0213;
  return f;
}

}  // namespace

class MeasuredTextTest : public QObject {
  Q_OBJECT
 private slots:
  void fresh_processes_and_what_they_took_are_said() {
    QCOMPARE(measured_text(measured(1, true)), std::string("measured on 4 batches, 9 rounds"));
    QCOMPARE(measured_text(measured(5, true)),
             std::string("measured on 4 batches, 9 rounds; again in 4 fresh processes, which took 4.1 s"));
    QCOMPARE(measured_text(measured(2, true)),
             std::string("measured on 4 batches, 9 rounds; again in 1 fresh process, which took 4.1 s"));
    // Without the program, the same process opens the model anew; the words say so.
    const std::string here = measured_text(measured(4, false));
    QVERIFY2(here.find("again 3 times in this process") != std::string::npos &&
                 here.find("was not found") != std::string::npos,
             here.c_str());
    // Older summaries do not have these figures.
    QCOMPARE(measured_text(measured(0, true)), std::string("measured on 4 batches, 9 rounds"));
  }

  void both_parts_of_the_data_name_their_whole() {
    RunSummaryFigures f = measured(0, true);
    f.dataset.batches = 16;
    const auto text = [&](int64_t profiled, int64_t ran) {
      f.split = SplitFigures{SplitRule::strided, profiled, ran, false, 12};
      f.baseline->batches = ran;
      return measured_text(f);
    };
    QCOMPARE(text(4, 12), std::string("profiled on 4 batches (every fourth), measured on the other 12, 9 rounds"));
    QCOMPARE(text(1, 1),
             std::string("profiled on 1 of 4 batches (every fourth), measured on 1 of the other 12, 9 rounds"));
  }

  void a_speed_up_says_what_another_run_may_differ_by() {
    RunSummaryFigures several = measured(5, true), once = measured(1, true), older = measured(0, true);
    several.speedup_basis = RatioBasis::all_pairs, once.measured_once = "measured for less than 1 s";
    QCOMPARE(speedup_basis_text(several), std::string("of the time of all batches, which gain alike: a median over "
                                                      "pairs; 5 measurements, between which it varies by 2.1 %"));
    for (const RunSummaryFigures& f : {once, older})
      QCOMPARE(spread_text(f), std::string("one measurement: another run may differ by more than its interval says"));
    QCOMPARE(measured_text(once),
             std::string("measured on 4 batches, 9 rounds; measured once, so the spread between runs is not known "
                         "(measured for less than 1 s)"));
    QVERIFY(several.knows_spread() && !once.knows_spread() && !older.knows_spread());
  }
};

STORMCELL_TEST(MeasuredTextTest)

}  // namespace stormcell::testing

#include "measured_text_test.moc"
