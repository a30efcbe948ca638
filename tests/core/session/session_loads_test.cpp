// Runs of loads alone: counts that another system kept, without choices or cells.
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;

RunLayout two_layers() {
  RunLayout layout;
  layout.spaces = {"tokens"};
  for (const int32_t layer : {3, 4}) {
    RouterInfo& r = layout.routers.emplace_back();
    r.name = "layer." + std::to_string(layer), r.branches = 4, r.fan_out = 2, r.layer = layer;
  }
  return layout;
}

int64_t count_of(int64_t step, int32_t router, int64_t branch) {
  return (step * 7 + router * 3 + branch * branch) % 11;
}

}  // namespace

class SessionLoadsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void steps_come_back_and_add_up() {
    const std::string path = at("loads.storm");
    constexpr int64_t kSteps = 21;
    {
      SessionWriter session(path, some_model());
      RunStart start = some_run("counts", two_layers());
      start.decisions = false;
      const auto run = session.begin_run(start);
      Recorder recorder({run.get()});
      for (int64_t step = 0; step < kSteps; ++step) {
        BatchRecord& batch = recorder.begin_batch();
        batch.number = step;
        for (int32_t r = 0; r < 2; ++r) {
          std::vector<int64_t> counts;
          for (int64_t b = 0; b < 4; ++b) counts.push_back(count_of(step, r, b));
          batch.add_loads({r, counts});
        }
        recorder.submit();
      }
      recorder.finish();
      run->finish(RunStatus::finished);
    }
    const SessionReader reader(path);
    QVERIFY(!reader.has_decisions(1) && reader.phases(1).empty());
    for (int32_t r = 0; r < 2; ++r) {
      const std::vector<RouterLoads> steps = reader.loads(1, r, 0, {});
      QCOMPARE(static_cast<int64_t>(steps.size()), kSteps);
      RouterLoads sum(4);
      for (int64_t step = 0; step < kSteps; ++step) {
        const RouterLoads& loads = steps[static_cast<size_t>(step)];
        int64_t all = 0;
        for (int64_t b = 0; b < 4; ++b) {
          QCOMPARE(loads.load[static_cast<size_t>(b)], count_of(step, r, b));
          all += count_of(step, r, b);
        }
        QCOMPARE(loads.cells, all / 2);
        sum.add(loads);
      }
      QVERIFY(reader.total_loads(1, r).load == sum.load);
    }
    reader.check();
  }

  void loads_that_do_not_fit_their_router_are_refused() {
    ProfileAccumulator counted(two_layers());
    for (const std::vector<int64_t>& wrong : std::vector<std::vector<int64_t>>{{1, 2, 3}, {1, 2, 3, -1}}) {
      BatchRecord batch;
      batch.add_loads({1, wrong});
      try {
        counted.batch(batch);
        QFAIL("it was taken");
      } catch (const Error& e) {
        QVERIFY(e.kind() == ErrorKind::failed);
      }
    }
    QCOMPARE(counted.batches(), int64_t{0});
  }

  void placements_are_found_by_number_and_name() {
    const std::string path = make_session(at("placed.storm"), 4);
    SessionWriter session(path, some_model());
    for (const char* name : {"first", "second"}) {
      StoredPlacement p;
      p.run = 1, p.name = name, p.solver = "eplb", p.layout = "{}", p.summary = "{}";
      session.add_placement(p);
    }
    session.close();
    const SessionReader reader(path);
    QCOMPARE(reader.placements().size(), size_t{2});
    QCOMPARE(reader.find_placement("").name, std::string("second"));
    QCOMPARE(reader.find_placement("2").name, std::string("first"));
    QCOMPARE(reader.find_placement("first").id, int64_t{2});
    try {
      reader.find_placement("third");
      QFAIL("it was found");
    } catch (const Error& e) {
      QVERIFY(std::string(e.what()).find("it holds #3 second, #2 first") != std::string::npos);
    }
    reader.check();
  }
};

STORMCELL_TEST(SessionLoadsTest)

}  // namespace stormcell

#include "session_loads_test.moc"
