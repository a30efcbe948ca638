// Readers and writers of one session at the same time.
#include <thread>

#include "tests/core/session/child_process.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell {

using namespace testing;
namespace fs = std::filesystem;

class SessionLiveTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void initTestCase() {
#ifdef __SANITIZE_THREAD__
    QSKIP("ThreadSanitizer cannot follow forked children that start threads");
#endif
  }
  void a_reader_follows_a_run_that_is_being_recorded() {
    const std::string path = at("live.storm");
    const RunLayout layout = two_stacks();
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    Recorder recorder({run.get()});
    for (int64_t i = 0; i < 200; ++i) {
      fill(layout, i, {}, recorder.begin_batch());
      recorder.submit();
      if (i % 20 != 19) continue;
      recorder.flush();
      const SessionReader reader(path);  // opens, reads and closes, as a follower does
      QVERIFY(reader.run(1).status == RunStatus::running);
      QCOMPARE(reader.run(1).batches, i + 1);
      if (i % 100 == 99) QCOMPARE(hole_in(reader, 1), std::string());
    }
    recorder.finish();
    run->finish(RunStatus::finished);
    run.reset();
    QVERIFY(writer.close());
    QVERIFY(!has_wal(path));
  }

  void another_process_follows_too() {
    const std::string path = at("followed.storm");
    Child child([&](const Child::Send& send) {
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(some_run());
      record_batches(*run, two_stacks(), 0, 50);
      send("recorded");
      ::pause();
    });
    QCOMPARE(child.line(), std::string("recorded"));
    {
      const SessionReader reader(path);
      QVERIFY(reader.run(1).status == RunStatus::running);
      QCOMPARE(hole_in(reader, 1), std::string());
    }
    QVERIFY(fs::exists(path + "-wal"));  // its writer lives
  }

  void an_idle_reader_leaves_wal_mode_and_is_the_one_to_end_it() {
    const std::string path = at("held.storm");
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, two_stacks(), 0, 10);
    run->finish(RunStatus::finished);
    run.reset();
    {
      const SessionReader reader(path);
      QVERIFY(!writer.close());
      QVERIFY(fs::exists(path + "-wal"));
      QCOMPARE(hole_in(reader, 1), std::string());
    }
    QVERIFY(!has_wal(path));
    QCOMPARE(hole_in(SessionReader(path), 1), std::string());
  }

  void a_reader_that_lets_go_in_time_does_not_matter() {
    const std::string path = at("released.storm");
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, two_stacks(), 0, 10);
    run->finish(RunStatus::finished);
    run.reset();
    auto reader = std::make_unique<SessionReader>(path);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      reader.reset();
    });
    QVERIFY(writer.close());
    other.join();
    QVERIFY(!has_wal(path));
  }

  // Locks belong to process and file: a reader in the writer's own process must not make it lose them.
  void readers_in_the_writers_process_do_not_drop_its_locks() {
    const std::string path = at("locks.storm");
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, two_stacks(), 0, 5);
    for (int i = 0; i < 3; ++i) SessionReader{path};
    Child child([&](const Child::Send& send) {
      sqlite3* db = nullptr;
      sqlite3_open(path.c_str(), &db);
      const int code = sqlite3_exec(db, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
      send(code == SQLITE_BUSY ? "locked" : "free");
      sqlite3_close(db);
    });
    QCOMPARE(child.line(), std::string("locked"));
    child.wait();
    run->finish(RunStatus::finished);
    run.reset();
    QVERIFY(writer.close());
  }

  void two_processes_may_append_to_one_session() {
    const std::string path = make_session(at("shared.storm"), 2);
    Child child([&](const Child::Send& send) {
      make_session(path, 60, some_run("other"));
      send("done");
    });
    make_session(path, 60, some_run("own"));
    QCOMPARE(child.line(), std::string("done"));
    child.wait();
    const SessionReader reader(path);
    QCOMPARE(reader.runs().size(), size_t{3});
    for (const int64_t id : {2, 3}) QCOMPARE(hole_in(reader, id), std::string());
  }
};

STORMCELL_TEST(SessionLiveTest)

}  // namespace stormcell

#include "session_live_test.moc"
