// Sessions as files: names, tables, earlier schemas, what is held, copies, and where they can be read.
#include "core/profile/layout_edges.h"
#include "core/session/schema.h"
#include "tests/core/session/child_process.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell {

using namespace testing;
namespace fs = std::filesystem;

class SessionFileTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void initTestCase() {
#ifdef __SANITIZE_THREAD__
    QSKIP("ThreadSanitizer cannot follow forked children that start threads");
#endif
  }
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
    const std::string page = read_all(source_folder() + "/docs/session-format.md"),
                      path = make_session(at("documented.storm"), 1);
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    sqlite3_stmt* names = nullptr;
    sqlite3_prepare_v2(
        db, "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type IN ('table', 'view')",
        -1, &names, nullptr);
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

  void a_session_of_the_first_schema_is_read_and_brought_up_to_date() {
    RunLayout chained = two_stacks();
    chained.edges = chain_edges(chained);  // schema 1 knew nothing else
    const std::string path = make_session(at("first-schema.storm"), 20, some_run("first", chained));
    // Back to front, what schemas 8 to 2 brought.
    execute(path,
            "DROP VIEW run_loads; DROP VIEW run_margins; DROP TABLE run_load; DROP TABLE run_margin; "
            "DROP TABLE picture; DROP TABLE placement; DROP TABLE edge; DROP TABLE batch_item; DROP TABLE annotation; "
            "DROP INDEX "
            "batch_space_by_phase; DROP "
            "INDEX pair_window_place;"
            "CREATE UNIQUE INDEX pair_window_place ON pair_window(router, kind, level, number); ALTER TABLE batch DROP "
            "COLUMN part;"
            "ALTER TABLE batch DROP COLUMN server_step; ALTER TABLE batch DROP COLUMN rank; "
            "ALTER TABLE batch DROP COLUMN items; ALTER TABLE batch_space DROP COLUMN starts; ALTER TABLE batch_space "
            "DROP COLUMN columns; "
            "ALTER TABLE model DROP COLUMN form");
    for (const char* column : {"layer", "branch_bytes", "dense_bytes", "residual"})
      execute(path, ("ALTER TABLE router DROP COLUMN " + std::string(column)).c_str());
    execute(path, "DROP TABLE piece; PRAGMA user_version=1");
    const std::string before = read_all(path);
    {
      const SessionReader reader(path);
      QCOMPARE(reader.summary().schema, 1);
      QVERIFY(reader.placements().empty());
      QVERIFY(!reader.has_pieces() && reader.pieces(std::vector<int32_t>{1}).empty());
      QVERIFY(reader.layout(1) == chained);
      QVERIFY(reader.transitions(1, 2, 3, {0, 20}).total() > 0);
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
    QCOMPARE(reader.summary().schema, kSchemaVersion);
    QCOMPARE(reader.summary().model.form, std::string());  // nobody knows
    QVERIFY(reader.layout(1) == chained);
    QVERIFY(reader.layout(2) == layout);
    QCOMPARE(hole_in(reader, 1), std::string());
  }

  /// Which branch that is nobody can tell afterwards.
  void a_router_s_residual_branch_is_kept_and_earlier_sessions_do_not_know_it() {
    RunLayout layout = two_stacks();
    layout.routers[0].residual = -1, layout.routers[1].residual = 1;
    const std::string path = make_session(at("residual.storm"), 3, some_run("first", layout));
    QVERIFY(SessionReader(path).layout(1) == layout);
    execute(path, "UPDATE router SET residual = branches WHERE ordinal = 1");
    QVERIFY(outcome([&] { SessionReader(path).layout(1); }).message.find("refers to nothing") != std::string::npos);
    execute(path,
            "DROP VIEW run_loads; DROP VIEW run_margins; DROP TABLE run_load; DROP TABLE run_margin; "
            "ALTER TABLE router DROP COLUMN residual; PRAGMA user_version=7");
    const SessionReader before(path);
    for (const RouterInfo& router : before.layout(1).routers) QCOMPARE(router.residual, kResidualUnknown);
    QCOMPARE(before.layout(1).routers.size(), layout.routers.size());
    before.check();
    // And once it is brought up to date.
    make_session(path, 3, some_run("second", layout));
    const SessionReader after(path);
    QVERIFY(after.summary().schema == kSchemaVersion && after.layout(2) == layout &&
            after.layout(1) == before.layout(1));
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
    fs::permissions(media,
                    fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    Child child([&](const Child::Send& send) {
      become_nobody();
      send("whole " + hole_in(SessionReader(path), 1));
    });
    QCOMPARE(child.line(), std::string("whole "));
    QCOMPARE(child.wait(), 0);
    fs::permissions(media, fs::perms::owner_all);
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
