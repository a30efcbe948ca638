// Sessions as files: what is no session, killed and starved writers, readers beside a writer, copies.
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/profile/layout_edges.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/session/child_process.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;
namespace fs = std::filesystem;

struct Outcome {
  ErrorKind kind = ErrorKind::interrupted;
  std::string message = "no error";
};
Outcome outcome(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return {e.kind(), e.what()};
  }
  return {};
}
void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
std::string read_all(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
void execute(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  sqlite3_close(db);
}
bool has_wal(const std::string& path) { return fs::exists(path + "-wal") || fs::exists(path + "-shm"); }

// Every batch up to the last is there, with its decisions.
std::string hole_in(const SessionReader& reader, int64_t run) {
  const RunLayout layout = two_stacks();
  const int64_t batches = reader.run(run).batches;
  for (int64_t i = 0; i < batches; ++i) {
    BatchRecord batch;
    fill(layout, i, {}, batch);
    for (size_t r = 0; r < layout.routers.size(); ++r) {
      const auto stored = reader.decision(run, static_cast<int32_t>(r), i);
      if (!stored) return "no decision of router " + std::to_string(r) + " in batch " + std::to_string(i);
      const std::string what = difference(*stored, batch.decision(r));
      if (!what.empty()) return what + " of batch " + std::to_string(i);
    }
    if (reader.events(run, i).size() != 3) return "events of batch " + std::to_string(i);
  }
  int64_t counted = 0;
  for (const RouterLoads& w : reader.loads(run, 0, reader.levels(run).back().level, 0, 1000)) counted += w.batches;
  return counted == batches ? "" : "the windows count " + std::to_string(counted) + " of " + std::to_string(batches) + " batches";
}

}  // namespace

class SessionFileTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
#ifdef __SANITIZE_THREAD__
  void initTestCase() { QSKIP("ThreadSanitizer cannot follow forked children that start threads"); }
#endif
  void paths_name_a_run_after_a_hash() {
    QCOMPARE(parse_session_path("a.storm").file, std::string("a.storm"));
    QCOMPARE(parse_session_path("a.storm#3").file, std::string("a.storm"));
    QCOMPARE(parse_session_path("a.storm#3").run, std::string("3"));
    QCOMPARE(parse_session_path("x#1/a.storm#best").file, std::string("x#1/a.storm"));
    write_text(at("odd#7"), "");
    QCOMPARE(parse_session_path(at("odd#7")).file, at("odd#7"));
    QVERIFY(parse_session_path(at("odd#7")).run.empty());
  }

  void every_table_and_column_is_documented() {
    const std::string page = read_all(source_folder() + "/docs/session-format.md"), path = make_session(at("documented.storm"), 1);
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    sqlite3_stmt* names = nullptr;
    sqlite3_prepare_v2(db, "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type IN ('table', 'view')", -1,
                       &names, nullptr);
    int found = 0;
    for (; sqlite3_step(names) == SQLITE_ROW; ++found)
      for (int i = 0; i < 2; ++i) {
        const std::string name = reinterpret_cast<const char*>(sqlite3_column_text(names, i));
        bool there = false;
        for (const char before : {'`', ' '})
          for (const char after : {'`', ',', ' '}) there |= page.find(before + name + after) != std::string::npos;
        QVERIFY2(there, name.c_str());
      }
    QVERIFY(found > 80);
    sqlite3_finalize(names);
    sqlite3_close(db);
  }

  void what_is_no_session_is_refused_and_left_alone_data() {
    QTest::addColumn<QString>("form");
    QTest::addColumn<QString>("complaint");
    QTest::newRow("missing") << "missing"
                             << "no such file";
    QTest::newRow("folder") << "folder"
                            << "is a folder, not a session";
    QTest::newRow("empty") << "empty"
                           << "is empty, not a session";
    QTest::newRow("short text") << "short"
                                << "not a session";
    QTest::newRow("long text") << "long"
                               << "not a session";
    QTest::newRow("another SQLite file") << "sqlite"
                                         << "an SQLite file, but not a session";
    QTest::newRow("an SQLite file without tables") << "bare"
                                                   << "an SQLite file, but not a session";
    QTest::newRow("newer") << "newer"
                           << "a session of schema 7, this program knows schemas up to 3 (use a newer Stormcell)";
    QTest::newRow("truncated") << "truncated"
                               << "the file is damaged";
  }
  void what_is_no_session_is_refused_and_left_alone() {
    QFETCH(QString, form);
    QFETCH(QString, complaint);
    const std::string path = at(form.toStdString() + ".storm");
    if (form == "folder") fs::create_directory(path);
    if (form == "empty") write_text(path, "");
    if (form == "short") write_text(path, "hello");
    if (form == "long") write_text(path, std::string(100000, 'x'));
    if (form == "sqlite") execute(path, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    if (form == "bare") execute(path, "PRAGMA user_version=3");
    if (form == "newer" || form == "truncated") make_session(path, 40);
    if (form == "newer") execute(path, "PRAGMA user_version=7");
    if (form == "truncated") fs::resize_file(path, fs::file_size(path) / 2);
    const std::string before = form == "folder" || form == "missing" ? "" : read_all(path);
    const Outcome read = outcome([&] {
      const SessionReader reader(path);
      for (int64_t i = 0; i < 40; ++i) reader.decision(1, 0, i);
      hole_in(reader, 1);
    });
    QVERIFY2(read.kind == ErrorKind::bad_input, read.message.c_str());
    QVERIFY2(read.message.find(path + ": ") == 0 && read.message.find(complaint.toStdString()) != std::string::npos, read.message.c_str());
    if (form == "missing" || form == "empty" || form == "truncated") return;  // a writer makes these
    const Outcome written = outcome([&] { SessionWriter writer(path, some_model()); });
    QVERIFY2(written.kind == ErrorKind::bad_input, written.message.c_str());
    QVERIFY2(written.message.find(complaint.toStdString()) != std::string::npos, written.message.c_str());
    if (form != "folder") QVERIFY(read_all(path) == before);
    QVERIFY(!has_wal(path));
  }
  void a_session_of_the_first_schema_is_read_and_brought_up_to_date() {
    RunLayout chained = two_stacks();
    chained.edges = chain_edges(chained);  // schema 1 knew nothing else
    const std::string path = make_session(at("first-schema.storm"), 20, some_run("first", chained));
    // Back to front, what schema 3 and 2 brought.
    execute(path,
            "DROP TABLE edge; DROP TABLE batch_item; DROP TABLE annotation; DROP INDEX batch_space_by_phase; DROP INDEX pair_window_place;"
            "CREATE UNIQUE INDEX pair_window_place ON pair_window(router, kind, level, number); ALTER TABLE batch DROP COLUMN part;"
            "ALTER TABLE batch DROP COLUMN items; ALTER TABLE batch_space DROP COLUMN columns; ALTER TABLE model DROP COLUMN form");
    for (const char* column : {"layer", "branch_bytes", "dense_bytes"})
      execute(path, ("ALTER TABLE router DROP COLUMN " + std::string(column)).c_str());
    execute(path, "DROP TABLE piece; PRAGMA user_version=1");
    const std::string before = read_all(path);
    {
      const SessionReader reader(path);
      QCOMPARE(reader.summary().schema, 1);
      QVERIFY(!reader.has_pieces() && reader.pieces(std::vector<int32_t>{1}).empty());
      QVERIFY(reader.layout(1) == chained);
      QVERIFY(reader.transitions(1, 2, 3, 0, 20).total() > 0);
      QCOMPARE(hole_in(reader, 1), std::string());
    }
    QVERIFY(read_all(path) == before);
    QVERIFY(outcome([&] { SessionWriter writer(path, some_model("another")); }).kind == ErrorKind::bad_input);
    QVERIFY(read_all(path) == before);
    RunLayout layout = two_stacks();
    layout.routers[1].layer = 3;
    layout.routers[1].branch_bytes = int64_t{1} << 40;
    make_session(path, 20, some_run("second", layout));
    const SessionReader reader(path);
    QCOMPARE(reader.summary().schema, 3);
    QCOMPARE(reader.summary().model.form, std::string());  // nobody knows
    QVERIFY(reader.layout(1) == chained);
    QVERIFY(reader.layout(2) == layout);
    QCOMPARE(hole_in(reader, 1), std::string());
  }
  void tables_that_do_not_fit_each_other_are_refused_data() {
    QTest::addColumn<QString>("damage");
    QTest::addColumn<QString>("complaint");
    const auto row = [](const char* name, const char* damage, const char* complaint) { QTest::newRow(name) << damage << complaint; };
    row("an edge from nowhere", "UPDATE edge SET router = -7 WHERE router = 0", "refers to nothing");
    row("an edge to nowhere", "UPDATE edge SET next = 99 WHERE router = 0", "refers to nothing");
    row("a cycle", "INSERT INTO edge VALUES(1, 1, 0, NULL)", "the edge from router 1 to router 0 leads back");
    row("an edge to another space", "INSERT INTO edge VALUES(1, 0, 4, NULL)", "leads to another cell space");
    row("a branch that is not there", "UPDATE edge SET branches = x'0109' WHERE router = 0", "branches that encoder.0.mlp does not have");
    row("branches that are no numbers", "UPDATE edge SET branches = x'0309' WHERE router = 0", "damaged");
    row("a router without a space", "UPDATE router SET space = -1", "has no cell space");
    row("too few items", "UPDATE batch SET items = x'0107' WHERE number = 0", "batch 0 lists 1 items of 4");
    row("an item below 0", "UPDATE batch SET items = x'08ffffffffffffffff' WHERE number = 0", "out of range");
    row("columns below 0", "UPDATE batch_space SET columns = -1", "out of range");
  }
  void tables_that_do_not_fit_each_other_are_refused() {
    QFETCH(QString, damage);
    QFETCH(QString, complaint);
    const std::string path = make_session(at("unfit.storm"), 4);
    execute(path, damage.toUtf8().constData());
    const Outcome read = outcome([&] {
      const SessionReader reader(path);
      reader.layout(1);
      for (int64_t b = 0; b < 4; ++b) reader.spaces(1, b);
    });
    QVERIFY2(read.kind == ErrorKind::bad_input, read.message.c_str());
    QVERIFY2(read.message.find(path) == 0 && read.message.find(complaint.toStdString()) != std::string::npos, read.message.c_str());
    fs::remove(path);
  }
  void what_is_held_is_kept_or_taken_back() {
    const std::string there = make_session(at("held.storm"), 10), made = at("made.storm");
    for (const std::string& path : {there, made})
      for (const bool keep : {false, true}) {
        SessionWriter writer(path, some_model());
        writer.hold();
        auto run = writer.begin_run(some_run("held"));
        record_batches(*run, two_stacks(), 0, 30);
        run->finish(RunStatus::finished);
        if (path == there) QCOMPARE(SessionReader(path).runs().size(), size_t{1});
        keep ? writer.keep() : writer.take_back();
        if (!keep) QVERIFY(outcome([&] { writer.begin_run(some_run()); }).kind == ErrorKind::failed);
        run.reset();
        writer.close();
        QVERIFY(!has_wal(path));
        if (!keep && path == made) {
          QVERIFY(!fs::exists(path));
          continue;
        }
        const SessionReader reader(path);
        QCOMPARE(reader.runs().size(), size_t{(path == there ? 1u : 0u) + (keep ? 1u : 0u)});
        QCOMPARE(hole_in(reader, reader.runs().back().id), std::string());
      }
  }
  void damaged_sessions_never_crash_a_reader() {
    const std::string good = make_session(at("good.storm"), 40), bad = at("bad.storm");
    const std::string bytes = read_all(good);
    std::mt19937 random(7);
    int refused = 0;
    for (int round = 0; round < 60; ++round) {
      std::string damaged = bytes;
      for (int i = 0; i < 40; ++i) damaged[100 + random() % (damaged.size() - 100)] = static_cast<char>(random());
      write_text(bad, damaged);
      refused += outcome([&] {
                   const SessionReader reader(bad);
                   for (const RunSummary& run : reader.runs()) {
                     hole_in(reader, run.id);
                     for (int32_t r = 0; r < 5; ++r) {
                       for (int32_t next = 0; next < 5; ++next) reader.transitions(run.id, r, next, 0, 100);
                       reader.coactivation(run.id, r, 0, 100);
                       reader.label_loads(run.id, r);
                       reader.token_loads(run.id, r, 100);
                     }
                     for (int64_t i = 0; i < 40; ++i) reader.spaces(run.id, i);
                     reader.cell_path(run.id, 1, {0, 9, 3, 0, Phase::forward});
                   }
                 }).message != "no error";
    }
    QVERIFY(refused > 10);
  }

  void where_nothing_may_be_written_is_bad_input_data() {
    QTest::addColumn<QString>("form");
    QTest::newRow("no such folder") << "missing/x.storm";
    QTest::newRow("a folder without permission") << "closed/x.storm";
    QTest::newRow("a file without permission") << "readonly.storm";
  }
  void where_nothing_may_be_written_is_bad_input() {
    QFETCH(QString, form);
    const std::string path = at(form.toStdString());
    fs::permissions(folder_.path().toStdString(), fs::perms::all);
    fs::create_directories(at("closed"));
    fs::permissions(at("closed"), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    if (form == "readonly.storm" && !fs::exists(path)) {
      make_session(path, 2);
      fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
    }
    Child child([&](const Child::Send& send) {
      become_nobody();
      const Outcome o = outcome([&] { SessionWriter writer(path, some_model()); });
      send(o.kind == ErrorKind::bad_input ? "bad input" : "another kind");
      send(o.message);
    });
    const std::string kind = child.line();
    const std::string message = child.line();
    QVERIFY2(kind == "bad input" && message.find(path + ": ") == 0, message.c_str());
    QCOMPARE(child.wait(), 0);
  }
  void a_file_that_may_not_be_read_is_bad_input() {
    const std::string path = make_session(at("secret.storm"), 2);
    fs::permissions(folder_.path().toStdString(), fs::perms::all);
    fs::permissions(path, fs::perms::owner_write);
    Child child([&](const Child::Send& send) {
      become_nobody();
      send(outcome([&] { SessionReader reader(path); }).message);
    });
    QCOMPARE(child.line(), path + ": Permission denied");
    child.wait();
  }

  void a_finished_session_is_one_plain_file() {
    const std::string path = make_session(at("plain.storm"), 30);
    QVERIFY(!has_wal(path));
    const std::string bytes = read_all(path);
    QCOMPARE(int{bytes[18]}, 1);  // the file format's byte for a rollback journal, not WAL
    QCOMPARE(hole_in(SessionReader(path), 1), std::string());
  }
  void it_is_read_from_a_folder_where_nothing_may_be_written_data() {
    QTest::addColumn<bool>("wal");
    QTest::newRow("plain") << false;
    QTest::newRow("left in WAL mode, without a -wal") << true;
  }
  void it_is_read_from_a_folder_where_nothing_may_be_written() {
    QFETCH(bool, wal);
    const std::string media = at(wal ? "media-wal" : "media"), path = media + "/a#b%.storm";
    fs::permissions(folder_.path().toStdString(), fs::perms::all);
    fs::create_directory(media);
    make_session(path, 30);
    if (wal) execute(path, "PRAGMA journal_mode=WAL");
    fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
    fs::permissions(media, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    Child child([&](const Child::Send& send) {
      become_nobody();
      send("whole " + hole_in(SessionReader(path), 1));
    });
    QCOMPARE(child.line(), std::string("whole "));
    QCOMPARE(child.wait(), 0);
    fs::permissions(media, fs::perms::owner_all);
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
    fs::permissions(media, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    Child child([&](const Child::Send& send) {
      become_nobody();
      send(outcome([&] { send("whole " + hole_in(SessionReader(path), 1)); }).message);
    });
    const std::string message = child.line();
    child.wait();
    fs::permissions(media, fs::perms::owner_all);
    QVERIFY2(message.find(path + "-wal") != std::string::npos && message.find("copy both files") != std::string::npos, message.c_str());
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
    const std::string path = at("killed-" + std::to_string(after) + "-" + std::to_string(static_cast<int>(latency)) + ".storm");
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
                        : hole_in(SessionReader(path), 1) + (SessionReader(path).run(1).batches >= flushed ? "" : "batches are missing"));
    });
    const std::string message = child.line();
    if (message == "no mount") return;  // the limit on file sizes has shown it
    QCOMPARE(child.line(), std::string());
    QCOMPARE(child.wait(), 0);
    QVERIFY2(message.find(path + ": no space left on the disk") == 0, message.c_str());
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

  void a_copy_of_a_live_session_is_whole_and_plain() {
    const std::string path = at("original.storm"), copy = at("copy.storm");
    const RunLayout layout = two_stacks();
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, layout, 0, 60);
    copy_session(path, copy);
    record_batches(*run, layout, 60, 10);
    QVERIFY(!has_wal(copy));
    QCOMPARE(int{read_all(copy)[18]}, 1);
    const SessionReader reader(copy);
    QCOMPARE(reader.run(1).batches, int64_t{60});
    QCOMPARE(hole_in(reader, 1), std::string());
    QCOMPARE(reader.summary().id, SessionReader(path).summary().id);
  }
  void a_copy_never_overwrites_and_a_cancelled_one_leaves_nothing() {
    const std::string path = make_session(at("source.storm"), 200), copy = at("target.storm");
    write_text(copy, "precious");
    QVERIFY(outcome([&] { copy_session(path, copy); }).kind == ErrorKind::bad_input);
    QCOMPARE(read_all(copy), std::string("precious"));
    Progress progress;
    progress.cancel.cancel();
    const std::string other = at("cancelled.storm");
    QVERIFY(outcome([&] { copy_session(path, other, progress); }).kind == ErrorKind::interrupted);
    QVERIFY(!fs::exists(other));
    for (const auto& entry : fs::directory_iterator(folder_.path().toStdString()))
      QVERIFY(entry.path().string().find(".part-") == std::string::npos);
  }
};

STORMCELL_TEST(SessionFileTest)

}  // namespace stormcell

#include "session_file_test.moc"
