// One quantile for the whole house, and what is said about what was measured.
#include "core/summary/latency.h"

#include <QTemporaryDir>

#include "core/readings/run_facts.h"
#include "core/session/session_writer.h"
#include "core/summary/measured_text.h"
#include "core/summary/parse.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class LatencyTest : public QObject {
  Q_OBJECT
 private slots:
  void a_quantile_is_the_nearest_rank() {
    const std::vector<double> four = {4, 1, 3, 2};
    QCOMPARE(quantile(four, 0.5), 2.0);
    QCOMPARE(quantile(four, 0.51), 3.0);
    QCOMPARE(quantile(four, 0), 1.0);
    QCOMPARE(quantile(four, 1), 4.0);
    QCOMPARE(quantile({}, 0.5), 0.0);
    QCOMPARE(median({1, 9}), 1.0);
    const Latency l = latency_of(four);
    QVERIFY(l.median == 2 && l.p95 == 4 && l.min == 1 && l.mean == 2.5 && l.runs == 4);
  }

  void a_run_without_a_summary_gives_the_same_figures_as_its_summary_would() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("times.storm").toStdString();
    const std::vector<double> times = {8, 3, 5, 12, 7, 4, 9, 11, 2, 6};  // an even number: where definitions part
    {
      ModelSummary model;
      model.name = "model";
      SessionWriter session(path, model);
      RunStart start;
      start.kind = "profile";
      const auto run = session.begin_run(start);
      for (size_t i = 0; i < times.size(); ++i) {
        BatchRecord batch;
        batch.number = static_cast<int64_t>(i);
        batch.latency_ms = times[i];
        run->batch(batch);
      }
      run->finish(RunStatus::finished, "");
      session.close();
    }
    const Latency read = read_run_facts(path, 0)->latency_ms, expected = latency_of(times);
    QVERIFY(read.median == expected.median && read.p95 == expected.p95 && read.min == expected.min &&
            read.mean == expected.mean && read.runs == expected.runs);
  }

  void what_was_measured_is_read_back_as_it_was_written() {
    RunSummaryFigures f;
    f.verb = "optimize";
    f.split = SplitFigures{SplitRule::first, 3, 9, false};
    f.baseline = PlanFigures{{2, 3, 1, 40, 2.5}, 100};
    PassReport pass;
    pass.name = "dead-path", pass.left_out = true, pass.reason = "left out: ...";
    pass.speedup_own = 0.97, pass.speedup_own_ci95 = {0.94, 0.99};
    f.passes = {pass};
    const RunSummaryFigures read = parse_summary(to_json(f))->figures;
    QVERIFY(read.split && read.split->rule == SplitRule::first && read.split->profiled == 3 &&
            read.split->measured == 9 && !read.split->same);
    QCOMPARE(read.baseline->latency_ms.mean, 2.5);
    QVERIFY(read.passes[0].left_out && read.passes[0].speedup_own == 0.97 &&
            read.passes[0].speedup_own_ci95 == pass.speedup_own_ci95);
    QVERIFY(to_json(f).find("\"predicted_speedup\": null") != std::string::npos);
  }

  void which_batches_were_profiled_and_measured_is_said_in_one_sentence() {
    RunSummaryFigures f;
    f.dataset.batches = 210;
    QCOMPARE(measured_text(f), std::string());
    f.baseline = PlanFigures{};
    f.baseline->batches = 157, f.baseline->rounds = 9;
    f.split = SplitFigures{SplitRule::strided, 53, 157, false};
    QCOMPARE(measured_text(f),
             std::string("profiled on 53 batches (every fourth), measured on the other 157, 9 rounds"));
    f.baseline->batches = 40;
    f.split->rule = SplitRule::first;
    QCOMPARE(measured_text(f),
             std::string("profiled on 53 batches (the first quarter), measured on 40 of the other 157, 9 rounds"));
    f.split = SplitFigures{SplitRule::strided, 1, 1, true};
    QCOMPARE(measured_text(f), std::string("profiled and measured on the same batch, the only one, 9 rounds"));
    f.split.reset();
    QCOMPARE(measured_text(f), std::string("measured on 40 of 210 batches, 9 rounds"));
  }
};

STORMCELL_TEST(LatencyTest)

}  // namespace stormcell::testing

#include "latency_test.moc"
