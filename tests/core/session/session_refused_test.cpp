// Refused files: those that are no session, damaged ones, tables that contradict each other, missing permissions.
#include <random>

#include "core/session/schema.h"
#include "tests/core/session/child_process.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {

using namespace testing;
namespace fs = std::filesystem;

class SessionRefusedTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void initTestCase() {
#ifdef __SANITIZE_THREAD__
    QSKIP("ThreadSanitizer cannot follow forked children that start threads");
#endif
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
                                         << "is an SQLite database of another program, not a session";
    QTest::newRow("an SQLite file without tables") << "bare"
                                                   << "is an SQLite database of another program, not a session";
    QTest::newRow("newer") << "newer"
                           << QString(
                                  "a session of schema %1, this program knows schemas up to %2 (use a newer Stormcell)")
                                  .arg(kSchemaVersion + 1)
                                  .arg(kSchemaVersion);
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
    if (form == "newer") execute(path, ("PRAGMA user_version=" + std::to_string(kSchemaVersion + 1)).c_str());
    if (form == "truncated") fs::resize_file(path, fs::file_size(path) / 2);
    const std::string before = form == "folder" || form == "missing" ? "" : read_all(path);
    const Outcome read = outcome([&] {
      const SessionReader reader(path);
      for (int64_t i = 0; i < 40; ++i) reader.decision(1, 0, i);
      hole_in(reader, 1);
    });
    QVERIFY2(read.kind == ErrorKind::bad_input, read.message.c_str());
    QVERIFY2(read.message.find(path + ": ") == 0 && read.message.find(complaint.toStdString()) != std::string::npos,
             read.message.c_str());
    QVERIFY2(read.message.ends_with(')'), read.message.c_str());              // what to do is said where it is found
    if (form == "missing" || form == "empty" || form == "truncated") return;  // a writer makes these
    const Outcome written = outcome([&] { SessionWriter writer(path, some_model()); });
    QVERIFY2(written.kind == ErrorKind::bad_input, written.message.c_str());
    QVERIFY2(written.message.find(complaint.toStdString()) != std::string::npos, written.message.c_str());
    // Who writes needs another file, not one to read.
    if (form != "newer")
      QVERIFY2(written.message.find("(choose another file for -o") != std::string::npos, written.message.c_str());
    if (form != "folder") QVERIFY(read_all(path) == before);
    QVERIFY(!has_wal(path));
  }

  void a_place_where_no_file_can_be_made_is_bad_input() {
    const std::string path = "/proc/stormcell.storm";  // its folder lets the superuser write, and makes no file
    const Outcome written = outcome([&] { SessionWriter writer(path, some_model()); });
    QVERIFY2(written.kind == ErrorKind::bad_input, written.message.c_str());
    QVERIFY2(written.message.find(path + ": ") == 0 &&
                 written.message.find("(choose a folder that exists") != std::string::npos,
             written.message.c_str());
  }

  void tables_that_do_not_fit_each_other_are_refused_data() {
    QTest::addColumn<QString>("damage");
    QTest::addColumn<QString>("complaint");
    const auto row = [](const char* name, const char* damage, const char* complaint) {
      QTest::newRow(name) << damage << complaint;
    };
    row("an edge from nowhere", "UPDATE edge SET router = -7 WHERE router = 0", "refers to nothing");
    row("an edge to nowhere", "UPDATE edge SET next = 99 WHERE router = 0", "refers to nothing");
    row("a cycle", "INSERT INTO edge VALUES(1, 1, 0, NULL)", "the edge from router 1 to router 0 leads back");
    row("an edge to another space", "INSERT INTO edge VALUES(1, 0, 4, NULL)", "leads to another cell space");
    row("a branch that is not there", "UPDATE edge SET branches = x'0109' WHERE router = 0",
        "branches that encoder.0.mlp does not have");
    row("branches that are not numbers", "UPDATE edge SET branches = x'0309' WHERE router = 0", "damaged");
    row("a router without a space", "UPDATE router SET space = -1", "has no cell space");
    row("too few items", "UPDATE batch SET items = x'0107' WHERE number = 0", "batch 0 lists 1 item of 4");
    row("an item below 0", "UPDATE batch SET items = x'08ffffffffffffffff' WHERE number = 0", "out of range");
    row("columns below 0", "UPDATE batch_space SET columns = -1", "out of range");
    row("a start below 0",
        "UPDATE batch_space SET starts = x'08ffffffffffffffff000000000000000000000000000000000000000000000000'",
        "out of range");
    row("too few starts", "UPDATE batch_space SET starts = x'0100', step = 0",
        "has other positions than its 4 sequences");
    row("starts that are not numbers", "UPDATE batch_space SET starts = x'0309'", "damaged");
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
    QVERIFY2(read.message.find(path) == 0 && read.message.find(complaint.toStdString()) != std::string::npos,
             read.message.c_str());
    QVERIFY2(read.message.ends_with("(copy it again from where it was recorded)"), read.message.c_str());
    fs::remove(path);
  }

  void damaged_sessions_never_crash_a_reader() {
    const std::string good = make_session(at("good.storm"), 40), bad = at("bad.storm");
    const std::string bytes = read_all(good);
    testing::Drawn<std::mt19937> random(7);
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
                       for (int32_t next = 0; next < 5; ++next) reader.transitions(run.id, r, next, {0, 100});
                       reader.coactivation(run.id, r, {0, 100});
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

  void a_check_reads_every_page_and_finds_what_nobody_looked_at() {
    const std::string good = make_session(at("whole.storm"), 40), bad = at("overwritten.storm");
    const SessionReader::Checked seen = SessionReader(good).check();
    const std::string bytes = read_all(good);
    constexpr size_t kPage = 8192;
    QCOMPARE(static_cast<size_t>(seen.pages), bytes.size() / kPage);
    QCOMPARE(seen.runs, int64_t{1});
    QCOMPARE(seen.batches, int64_t{40});
    QCOMPARE(seen.decisions, static_cast<int64_t>(40 * two_stacks().routers.size()));
    testing::Drawn<std::mt19937> random(11);
    int opened = 0;
    for (size_t page = 1; page < bytes.size() / kPage; ++page)
      for (const bool noise : {false, true}) {
        std::string damaged = bytes;
        for (size_t i = 0; i < kPage; ++i) damaged[page * kPage + i] = noise ? static_cast<char>(random()) : '\0';
        write_text(bad, damaged);
        opened += outcome([&] { SessionReader(bad).runs(); }).message == "no error";
        const Outcome o = outcome([&] { SessionReader(bad).check(); });
        QVERIFY2(o.kind == ErrorKind::bad_input && o.message.find("the file is damaged") != std::string::npos,
                 (std::to_string(page) + (noise ? " noise: " : " zeros: ") + o.message).c_str());
      }
    QVERIFY(opened > 0);  // and opening alone did not see it
  }
  void a_check_can_be_stopped() {
    const std::string path = make_session(at("stopped.storm"), 10);
    Progress progress;
    progress.cancel.cancel();
    QVERIFY(outcome([&] { SessionReader(path).check(progress); }).kind == ErrorKind::interrupted);
    QVERIFY(SessionReader(path).check().batches == 10);
  }

  void where_nothing_may_be_written_is_bad_input_data() {
    QTest::addColumn<QString>("form");
    QTest::addColumn<QString>("words");
    QTest::newRow("no such folder") << "missing/x.storm"
                                    << "its folder: No such file or directory";
    QTest::newRow("a folder without permission") << "closed/x.storm"
                                                 << "its folder cannot be written: Permission denied";
    QTest::newRow("a session in a folder without permission") << "closed/there.storm"
                                                              << "its folder cannot be written: Permission denied";
    QTest::newRow("a file without permission") << "readonly.storm"
                                               << "cannot be written: Permission denied";
    QTest::newRow("a file as folder") << "file.txt/x.storm"
                                      << "Not a directory";
  }
  void where_nothing_may_be_written_is_bad_input() {
    QFETCH(QString, form);
    QFETCH(QString, words);
    const std::string path = at(form.toStdString());
    fs::permissions(folder_.path().toStdString(), fs::perms::all);
    fs::create_directories(at("closed"));
    fs::permissions(at("closed"), fs::perms::all);
    write_text(at("file.txt"), "text");
    if (form == "closed/there.storm") {
      make_session(path, 2);
      fs::permissions(path, fs::perms::all);
    }
    fs::permissions(at("closed"),
                    fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
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
    QVERIFY2(message.find(words.toStdString()) != std::string::npos, message.c_str());
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
    QCOMPARE(child.line(), path + ": Permission denied (check its permissions)");
    child.wait();
  }
};

STORMCELL_TEST(SessionRefusedTest)

}  // namespace stormcell

#include "session_refused_test.moc"
