// A session, its model and its runs: appended, picked, refused, set later.
#include "core/base/error.h"
#include "core/session/schema.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;

}  // namespace

class SessionRunsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void a_fingerprint_of_an_earlier_version_is_the_same_model() {
    const std::string path = make_session(at("older.storm"), 2);
    int asked = 0;
    ModelSummary now = some_model("a new form of it");
    now.is_older_fingerprint = [&](std::string_view known) {
      ++asked;
      return known == some_model().fingerprint;
    };
    for (int run = 2; run <= 3; ++run) {
      SessionWriter writer(path, now);
      auto recorded = writer.begin_run(some_run("again"));
      record_batches(*recorded, two_stacks(), 0, 2);
      recorded->finish(RunStatus::finished, "{}");
      recorded.reset();
      writer.close();
      QCOMPARE(SessionReader(path).runs().size(), static_cast<size_t>(run));
    }
    QVERIFY(asked > 0);
    asked = 0;
    // Nobody asks a session with the new form for the old one, which may take seconds.
    const std::string fresh = at("fresh.storm");
    for (int run = 0; run < 2; ++run) SessionWriter(fresh, now).close();
    QCOMPARE(asked, 0);
    now.is_older_fingerprint = [](std::string_view) { return false; };
    QVERIFY(complaint([&] { SessionWriter(path, now); }).find("another model") != std::string::npos);
  }

  void a_session_knows_itself_its_model_and_its_runs() {
    const std::string path = make_session(at("known.storm"), 3);
    const SessionReader reader(path);
    QCOMPARE(reader.summary().model.fingerprint, some_model().fingerprint);
    QCOMPARE(reader.summary().model.name, std::string("switch-tiny"));
    QCOMPARE(reader.summary().model.json, std::string("{\"parameters\":42}"));
    QCOMPARE(reader.summary().id.size(), size_t{32});
    QCOMPARE(reader.summary().schema, kSchemaVersion);
    QCOMPARE(reader.summary().model.form, std::string("sampled-256"));
    const auto runs = reader.runs();
    QCOMPARE(runs.size(), size_t{1});
    QCOMPARE(runs[0].id, int64_t{1});
    QCOMPARE(runs[0].kind, std::string("profile"));
    QCOMPARE(runs[0].config, some_run().config);
    QCOMPARE(runs[0].summary, std::string("{\"speedup\":1.5}"));
    QVERIFY(runs[0].status == RunStatus::finished);
    QCOMPARE(runs[0].batches, int64_t{3});
    QVERIFY(runs[0].started <= runs[0].finished && runs[0].started.back() == 'Z');
    QCOMPARE(reader.layout(1), two_stacks());
  }

  void runs_are_appended_and_picked_by_number_or_name() {
    const std::string path = make_session(at("runs.storm"), 2);
    for (const char* name : {"second", "first"}) make_session(path, 3, some_run(name));
    const SessionReader reader(path);
    QCOMPARE(reader.runs().size(), size_t{3});
    QCOMPARE(reader.find_run("").id, int64_t{3});
    QCOMPARE(reader.find_run("2").name, std::string("second"));
    QCOMPARE(reader.find_run("first").id, int64_t{3});  // the newest of that name
    QCOMPARE(reader.run(1).batches, int64_t{2});
    const std::string message = complaint([&] { reader.find_run("third"); });
    QVERIFY2(message.find("there is no run \"third\" (it holds #3 first, #2 second, #1 first)") != std::string::npos,
             message.c_str());
    QVERIFY_THROWS_EXCEPTION(Error, reader.run(9));
  }

  void runs_may_be_recorded_side_by_side() {
    const std::string path = at("alternating.storm");
    const RunLayout layout = two_stacks();
    SessionWriter writer(path, some_model());
    auto baseline = writer.begin_run(some_run("baseline")), optimized = writer.begin_run(some_run("optimized"));
    {
      Recorder a({baseline.get()}), b({optimized.get()});
      for (int64_t i = 0; i < 200; ++i)
        for (Recorder* recorder : {&a, &b}) {
          fill(layout, i, {}, recorder->begin_batch());
          recorder->submit();
        }
      a.finish();
      b.finish();
    }
    baseline->finish(RunStatus::finished);
    optimized->finish(RunStatus::finished);
    baseline.reset();
    optimized.reset();
    QVERIFY(writer.close());
    const SessionReader reader(path);
    QCOMPARE(reader.run(1).batches, int64_t{200});
    QCOMPARE(reader.total_loads(1, 4), reader.total_loads(2, 4));
  }

  void another_model_is_refused_and_nothing_changes() {
    const std::string path = make_session(at("model.storm"), 2);
    ModelSummary other = some_model("ffff00001111");
    other.name = "other";
    try {
      SessionWriter writer(path, other);
      QFAIL("was opened");
    } catch (const Error& e) {
      QVERIFY(e.kind() == ErrorKind::bad_input);
      QCOMPARE(e.what(), (path + ": holds runs of another model, switch-tiny (0123456789ab) and not other "
                                 "(ffff00001111) (choose another file for -o)")
                             .c_str());
    }
    QCOMPARE(SessionReader(path).runs().size(), size_t{1});
  }

  void a_run_that_is_dropped_is_interrupted() {
    const std::string path = at("dropped.storm");
    const RunLayout layout = two_stacks();
    {
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(some_run());
      record_batches(*run, layout, 0, 5);
    }
    const SessionReader reader(path);
    QVERIFY(reader.run(1).status == RunStatus::interrupted);
    QCOMPARE(reader.run(1).batches, int64_t{5});
    QCOMPARE(reader.total_loads(1, 0).batches, int64_t{5});
  }

  void too_many_routers_are_refused() {
    RunLayout layout;
    layout.spaces = {"s"};
    layout.routers.resize(5000);
    SessionWriter writer(at("routers.storm"), some_model());
    QVERIFY_THROWS_EXCEPTION(Error, writer.begin_run(some_run("many", layout)));
  }
};

STORMCELL_TEST(SessionRunsTest)

}  // namespace stormcell

#include "session_runs_test.moc"
