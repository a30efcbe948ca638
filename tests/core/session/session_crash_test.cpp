// Killed writers and full disks: what was finished before is there.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/core/session/child_process.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell {

using namespace testing;
namespace fs = std::filesystem;

class SessionCrashTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void initTestCase() {
#ifdef __SANITIZE_THREAD__
    QSKIP("ThreadSanitizer cannot follow forked children that start threads");
#endif
  }
  void a_wal_that_cannot_be_recovered_is_named() {
    const std::string media = at("left"), path = media + "/x.storm";
    fs::permissions(folder_.path().toStdString(), fs::perms::all);
    fs::create_directory(media);
    {
      Child child([&](const Child::Send& send) {
        SessionWriter writer(path, some_model());
        auto run = writer.begin_run(some_run());
        record_batches(*run, two_stacks(), 0, 5);
        send("recorded");
        ::pause();
      });
      QCOMPARE(child.line(), std::string("recorded"));
      child.kill();
    }
    QVERIFY(fs::file_size(path + "-wal") > 0);
    fs::remove(path + "-shm");
    for (const char* end : {"", "-wal"}) fs::permissions(path + end, fs::perms::owner_read | fs::perms::others_read);
    fs::permissions(media,
                    fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    Child child([&](const Child::Send& send) {
      become_nobody();
      send(outcome([&] { send("whole " + hole_in(SessionReader(path), 1)); }).message);
    });
    const std::string message = child.line();
    child.wait();
    fs::permissions(media, fs::perms::owner_all);
    QVERIFY2(message.find(path + "-wal") != std::string::npos && message.find("copy both files") != std::string::npos,
             message.c_str());
  }

  // The writer is killed at a random moment; whatever it had reported as finished is there.
  void a_killed_run_keeps_every_finished_batch_data() {
    QTest::addColumn<int>("after");
    QTest::addColumn<double>("latency");
    for (const int after : {1, 7, 60}) {
      QTest::newRow(qPrintable(QString("long batches, killed after %1").arg(after))) << after << 100.0;
      QTest::newRow(qPrintable(QString("short batches, killed after %1").arg(after))) << after << 1.0;
    }
  }
  void a_killed_run_keeps_every_finished_batch() {
    QFETCH(int, after);
    QFETCH(double, latency);
    const std::string path =
        at("killed-" + std::to_string(after) + "-" + std::to_string(static_cast<int>(latency)) + ".storm");
    const RunLayout layout = two_stacks();
    Child child([&](const Child::Send& send) {
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(some_run());
      Recorder recorder({run.get()});
      for (int64_t i = 0; i < 1000000; ++i) {
        BatchRecord& batch = recorder.begin_batch();
        fill(layout, i, {}, batch);
        batch.latency_ms = latency;
        recorder.submit();
        if (latency >= 20 || i % 16 == 15) {
          recorder.flush();
          send(std::to_string(i));
        }
      }
    });
    int64_t reported = -1;
    while (reported < after) reported = std::stoll(child.line());
    child.kill();
    QVERIFY(fs::exists(path + "-wal"));
    {
      const SessionReader reader(path);
      QVERIFY(reader.run(1).status == RunStatus::interrupted);
      QVERIFY2(reader.run(1).batches > reported, std::to_string(reader.run(1).batches).c_str());
      QCOMPARE(hole_in(reader, 1), std::string());
    }
    QVERIFY(!has_wal(path));  // the last reader made it one plain file
    make_session(path, 5, some_run("next"));
    const SessionReader reader(path);
    QVERIFY(reader.run(1).status == RunStatus::interrupted);
    QVERIFY(reader.run(2).status == RunStatus::finished);
    QCOMPARE(hole_in(reader, 2), std::string());
  }

  void a_writer_recovers_what_a_killed_one_left() {
    const std::string path = at("recovered.storm");
    Child child([&](const Child::Send& send) {
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(some_run());
      record_batches(*run, two_stacks(), 0, 21);
      send("recorded");
      ::pause();
    });
    QCOMPARE(child.line(), std::string("recorded"));
    child.kill();
    make_session(path, 5, some_run("next"));
    QVERIFY(!has_wal(path));
    const SessionReader reader(path);
    QCOMPARE(reader.run(1).batches, int64_t{21});
    QCOMPARE(hole_in(reader, 1), std::string());
    QVERIFY(reader.run(1).status == RunStatus::interrupted);
  }

  // A limit on the size of files stands for the end of the disk.
  void a_full_disk_ends_cleanly_and_keeps_what_was_finished_data() {
    QTest::addColumn<int>("kib");
    for (const int kib : {1, 40, 150, 300, 900, 3000}) QTest::newRow(qPrintable(QString("%1 KiB").arg(kib))) << kib;
  }
  void a_full_disk_ends_cleanly_and_keeps_what_was_finished() {
    QFETCH(int, kib);
    const std::string path = at("full-" + std::to_string(kib) + ".storm");
    const RunLayout layout = two_stacks();
    Child child([&](const Child::Send& send) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{static_cast<rlim_t>(kib) * 1024, static_cast<rlim_t>(kib) * 1024};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      int64_t flushed = 0;
      const Outcome o = outcome([&] {
        SessionWriter writer(path, some_model());
        auto run = writer.begin_run(some_run());
        const Outcome recording = outcome([&] {
          Recorder recorder({run.get()});
          for (int64_t i = 0; i < 100000; ++i) {
            fill(layout, i, {}, recorder.begin_batch());
            recorder.submit();
            recorder.flush();
            flushed = i + 1;
          }
        });
        outcome([&] { run->finish(RunStatus::failed); });
        run.reset();
        outcome([&] { writer.close(); });
        throw Error(recording.kind, "", recording.message);
      });
      send(std::to_string(Error(o.kind, "", "").exit_code()));
      send(o.message);
      send(std::to_string(flushed));
    });
    const std::string kind = child.line(), message = child.line();
    const int64_t flushed = std::stoll(child.line());
    QCOMPARE(child.wait(), 0);
    QVERIFY2(message.find(path + ": ") == 0 && message.find("File too large") != std::string::npos, message.c_str());
    QCOMPARE(kind, std::string("1"));
    if (flushed == 0) return;  // not even the tables had room
    const SessionReader reader(path);
    QVERIFY(reader.run(1).batches >= flushed);
    QCOMPARE(hole_in(reader, 1), std::string());
  }

  // The same on a file system that is really full, where this process may mount one.
  void a_full_file_system_ends_cleanly_too_data() {
    QTest::addColumn<int>("kib");
    for (const int kib : {20, 200, 600, 2000}) QTest::newRow(qPrintable(QString("%1 KiB").arg(kib))) << kib;
  }
  void a_full_file_system_ends_cleanly_too() {
    QFETCH(int, kib);
    const std::string media = at("tiny"), path = media + "/x.storm";
    fs::create_directories(media);
    const RunLayout layout = two_stacks();
    Child child([&](const Child::Send& send) {
      const std::string size = "size=" + std::to_string(kib) + "k";
      if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("tmpfs", media.c_str(), "tmpfs", 0, size.c_str()) != 0) {
        send("no mount");
        return;
      }
      int64_t flushed = 0;
      const Outcome o = outcome([&] {
        SessionWriter writer(path, some_model());
        auto run = writer.begin_run(some_run());
        Recorder recorder({run.get()});
        for (int64_t i = 0; i < 100000; ++i) {
          fill(layout, i, {}, recorder.begin_batch());
          recorder.submit();
          recorder.flush();
          flushed = i + 1;
        }
      });
      send(o.message);
      send(flushed == 0 ? ""
                        : hole_in(SessionReader(path), 1) +
                              (SessionReader(path).run(1).batches >= flushed ? "" : "batches are missing"));
    });
    const std::string message = child.line();
    if (message == "no mount") return;  // the limit on file sizes has shown it
    QCOMPARE(child.line(), std::string());
    QCOMPARE(child.wait(), 0);
    QVERIFY2(message.find(path + ": no space left on the disk") == 0, message.c_str());
  }
};

STORMCELL_TEST(SessionCrashTest)

}  // namespace stormcell

#include "session_crash_test.moc"
