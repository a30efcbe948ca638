// A check counts again what was counted while a run was recorded: every table that says something else is found and
// named.
#include <set>

#include "core/session/session_writer.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;
namespace fs = std::filesystem;

RunStart with_inputs(bool decisions = true, bool inputs = true) {
  RunStart start = some_run();
  start.decisions = decisions, start.inputs = inputs;
  start.piece = [](int32_t token) { return "p" + std::to_string(token); };
  return start;
}

/// 40 batches; `listed`: they list their items, which come from anywhere, and have scores and margins.
void record(SessionWriter& writer, const RunStart& start, bool listed, const std::function<void(RunWriter&)>& end) {
  auto run = writer.begin_run(start);
  Recorder recorder({run.get()});
  for (int64_t i = 0; i < 40; ++i) {
    BatchRecord& batch = recorder.begin_batch();
    fill(start.layout, i, {}, batch, listed);
    if (listed) batch.set_items(std::vector<int64_t>{i + 120, i, i + 80, i + 40});
    batch.add_thumbnail(0, {{2, 3}, 1, {0, 1, 2, 3, 4, 5}});
    recorder.submit();
  }
  recorder.finish();
  end(*run);
}

std::string checked_session(const std::string& path) {
  SessionWriter writer(path, some_model());
  const auto finish = [](RunWriter& run) { run.finish(RunStatus::finished, "{\"speedup\":1.5}"); };
  record(writer, with_inputs(), false, finish);
  record(writer, with_inputs(), true, finish);
  record(writer, with_inputs(false, false), false, finish);
  writer.close();
  return path;
}

/// Rows of a query as texts.
std::vector<std::vector<std::string>> rows_of(const std::string& path, const std::string& sql) {
  std::vector<std::vector<std::string>> rows;
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  const auto take = [](void* into, int columns, char** texts, char**) {
    auto& row = static_cast<std::vector<std::vector<std::string>>*>(into)->emplace_back();
    for (int i = 0; i < columns; ++i) row.emplace_back(texts[i] ? texts[i] : "");
    return 0;
  };
  sqlite3_exec(db, sql.c_str(), take, &rows, nullptr);
  sqlite3_close(db);
  return rows;
}

/// Names what a session says in only one place.
constexpr const char* kSaidOnce[] = {
    "meta.value",
    "model.fingerprint",
    "model.name",
    "model.family",
    "model.form",
    "run.kind",
    "run.name",
    "run.started",
    "run.finished",
    "run.writer",
    "space.name",
    "router.name",
    "router.residual",
    "router.protocol",
    "router.stack",
    "router.parent",
    "router.layer",
    "router.branch_bytes",
    "router.dense_bytes",
    "step.name",
    "step.op",
    "step.router",
    "step.branch",
    "picture.id",
    "picture.run",
    "picture.item",
    "picture.pixels",
    "step.flops",
    "step.bytes",
    "batch.latency_ms",
    "batch.rank",
    "batch.server_step",
    "batch.part",
    "batch_space.first_sequence",
    "batch_space.step",
    "batch_space.phase",
    "batch_space.columns",
    "batch_space.tokens",  // of padding
    "event.batch",
    "event.data",
    "sequence.text",
    "pair_window.id",
    "piece.token",
    "piece.text",
    "run.decisions",
    "run.inputs",
    "run.counted_through",
};

}  // namespace

class SessionCheckTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string good_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void initTestCase() { good_ = checked_session(at("good.storm")); }

  void what_was_recorded_is_not_damaged() {
    const SessionReader::Checked seen = SessionReader(good_).check();
    QCOMPARE(seen.runs, int64_t{3});
    QCOMPARE(seen.batches, int64_t{120});
    QCOMPARE(seen.decisions, static_cast<int64_t>(80 * two_stacks().routers.size()));
    QVERIFY(SessionReader(good_).check_if_small());
  }

  void sessions_of_earlier_programs_are_not_damaged() {
    for (const char* name :
         {"tests/core/session/fixtures/schema2/optimize.storm", "tests/core/session/fixtures/schema2/generate.storm",
          "tests/core/session/fixtures/schema2/import.storm", "resources/sample/sample.storm"}) {
      const Outcome o = outcome([&] { SessionReader(source_folder() + "/" + name).check(); });
      QVERIFY2(o.message == "no error", o.message.c_str());
    }
    // And one that was brought up to date since.
    const std::string migrated = at("migrated.storm");
    fs::copy_file(source_folder() + "/tests/core/session/fixtures/schema2/optimize.storm", migrated);
    fs::permissions(migrated, fs::perms::owner_all);
    SessionWriter(migrated, SessionReader(migrated).summary().model).close();
    const Outcome o = outcome([&] { SessionReader(migrated).check(); });
    QVERIFY2(o.message == "no error", o.message.c_str());
  }

  void runs_that_go_on_or_were_killed_are_not_damaged() {
    const std::string live = at("live.storm"), killed = at("killed.storm");
    SessionWriter writer(live, some_model());
    record(writer, with_inputs(), false, [&](RunWriter& run) {
      run.commit();
      QVERIFY(SessionReader(live).check().batches == 40);
      QVERIFY(!SessionReader(live).check_if_small());
      copy_session(live, killed);
    });
    execute(killed, "UPDATE run SET writer = 'nobody 1 1'");
    QVERIFY(SessionReader(killed).run(1).status == RunStatus::interrupted);
    QCOMPARE(SessionReader(killed).check().batches, int64_t{40});
    execute(killed, "INSERT INTO run_load VALUES(4096, 0, 0)");
    QVERIFY(outcome([&] { SessionReader(killed).check(); }).message.find("although it did not end") !=
            std::string::npos);
    execute(killed, "DELETE FROM run_load");
    execute(killed, "DELETE FROM load_window WHERE level = 0 AND number = 39 AND router & 4095 = 2");
    QVERIFY(outcome([&] { SessionReader(killed).check(); }).message.find("has no loads in batch 39") !=
            std::string::npos);
  }

  void every_table_that_says_something_else_is_found_data() {
    QTest::addColumn<QString>("damage");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* damage, const char* words) {
      QTest::newRow(name) << damage << words;
    };
    const char* loads = "the loads of router encoder.1.mlp ";
    row("cells of a window",
        "UPDATE load_window SET cells = cells + 1 WHERE router = 4097 AND level = 0 AND number = 3",
        "the loads of router encoder.1.mlp in batch 3 are not those of its decisions");
    row("loads of a window",
        "UPDATE load_window SET data = (SELECT data FROM load_window WHERE router = 4097 AND level = 0 AND number = 4) "
        "WHERE router = 4097 "
        "AND level = 0 AND number = 3",
        "in batch 3 are not those of its decisions");
    row("loads of a higher window",
        "UPDATE load_window SET cells = cells - 1 WHERE router = 4097 AND level = 2 AND number = 1",
        "over batches 16 to 31 are not those of its decisions");
    row("loads of the last window",
        "UPDATE load_window SET batches = 3 WHERE router = 4097 AND level = 2 AND number = 2", loads);
    row("a window that is gone", "DELETE FROM load_window WHERE router = 4097 AND level = 1 AND number = 5",
        "router encoder.1.mlp has no loads over batches 20 to 23");
    row("a window too many",
        "INSERT INTO load_window SELECT router, 0, 77, batches, cells, data FROM load_window WHERE router = 4097 AND "
        "level = 0 AND number = 3",
        "router encoder.1.mlp has loads of batches that do not exist");
    row("windows of a run without decisions",
        "UPDATE load_window SET cells = cells - 1 WHERE router = 12289 AND level = 1 AND number = 0",
        "in run #3 the loads of router encoder.1.mlp over batches 0 to 3 are not those of its batches");
    row("loads of the whole run", "UPDATE router SET cells = cells + 1 WHERE id = 4097",
        "over the whole run are not those of its decisions");
    row("no loads of the whole run", "UPDATE router SET total = NULL WHERE id = 4097",
        "router encoder.1.mlp has no loads of the whole run");
    row("loads by label", "UPDATE label_load SET cells = cells + 1 WHERE router = 4097 AND label = 'fr'",
        "by label \"fr\" are not those");
    row("loads of another label",
        "UPDATE label_load SET load = (SELECT load FROM label_load WHERE router = 4097 AND label = 'de') WHERE router "
        "= 4097 AND label = "
        "'fr'",
        "by label \"fr\" are not those of its decisions");
    row("a label that is gone", "DELETE FROM label_load WHERE router = 4097 AND label = 'el'",
        "has no loads by label \"el\"");
    row("a label of a sequence", "UPDATE sequence SET label = 'de' WHERE run = 1 AND label = 'fr' AND number < 40",
        "by label \"");
    row("labels of a run without decisions",
        "UPDATE label_load SET load = x'02ffffffffffffffffffffffffffffffff' WHERE router = 12289",
        "by label are more than all of its loads");
    row("loads by token", "UPDATE token_load SET cells = cells - 1 WHERE router = 4097 AND token = 7",
        "by token 7 are not those");
    row("tokens of a run without inputs",
        "UPDATE token_load SET load = x'02ffffffffffffffffffffffffffffffff' WHERE router = 12289",
        "by token are more than all of its loads");
    row("cells of a branch", "UPDATE run_load SET cells = cells + 1 WHERE router = 4097 AND branch = 2",
        "in run #1 the cells of router encoder.1.mlp in run_load are not its loads");
    row("a branch that is gone", "DELETE FROM run_load WHERE router = 4097 AND branch = 3",
        "the cells of router encoder.1.mlp in run_load are not its loads");
    row("cells of a branch, without decisions", "UPDATE run_load SET cells = 0 WHERE router = 12289 AND branch = 0",
        "in run #3 the cells of router encoder.1.mlp in run_load are not its loads");
    row("rows of a router that are gone", "DELETE FROM run_load WHERE router = 4097",
        "the cells of router encoder.1.mlp in run_load are not its loads");
    row("loads without margins", "DELETE FROM run_margin",
        "in run #2 the margins of router encoder.0.mlp in run_margin are not those of its decisions");
    row("margins without loads", "DELETE FROM run_load WHERE router >= 8192 AND router < 12288",
        "in run #2 the cells of router encoder.0.mlp in run_load are not its loads");
    row("margins of another size", "UPDATE run_margin SET bin = bin + 1 WHERE router = 8193",
        "the margins of router encoder.1.mlp in run_margin are not those of its decisions");
    row("margins of a run without decisions", "INSERT INTO run_margin VALUES(12289, -4, 1000000000)",
        "in run #3 the margins of router encoder.1.mlp in run_margin are not those of its cells");
    row("margins of no size", "INSERT INTO run_margin VALUES(12289, 80, 1)",
        "in run #3 the margins of router encoder.1.mlp in run_margin are not those of its cells");
    row("transitions",
        "UPDATE pair_window SET data = (SELECT data FROM pair_window WHERE router = 4096 AND level = 2 AND number = 1) "
        "WHERE router = 4096 "
        "AND "
        "level = 2 AND number = 0",
        "the transitions from encoder.0.mlp to encoder.1.mlp over batches 0 to 15 are not those of its decisions");
    row("transitions that are gone", "DELETE FROM pair_window WHERE router = 4096 AND level = 2 AND number = 2",
        "over batches 32 to 47 are not those of its decisions");
    row("transitions too many",
        "INSERT INTO pair_window(kind, router, level, number, next, batches, data) SELECT kind, router, level, 9, "
        "next, "
        "batches, data FROM pair_window WHERE router = 4096 AND level = 2 AND number = 0",
        "the transitions from encoder.0.mlp to encoder.1.mlp than batches");
    row("an edge that is gone", "DELETE FROM edge WHERE run = 1 AND router = 0",
        "table pair_window has a row of something that does not exist");
    row("co-activations",
        "UPDATE pair_window SET batches = 15 WHERE kind = 1 AND router = 4098 AND level = 2 AND number = 0",
        "the co-activations of decoder.0.mlp over batches 0 to 15");
    row("transitions of a run without decisions",
        "UPDATE pair_window SET batches = 15 WHERE router = 12288 AND level = 2 AND number = 0",
        "are not the sums of those below");
    row("real cells", "UPDATE batch_space SET real_cells = real_cells - 1 WHERE id = (4294967296 + 5) * 64",
        "batch 5, cells of encoder: real_cells");
    row("a mask", "UPDATE batch_space SET mask = NULL WHERE id = (4294967296 + 5) * 64",
        "batch 5, cells of encoder: real_cells");
    row("tokens of cells", "UPDATE batch_space SET tokens = x'0101' WHERE id = (4294967296 + 5) * 64",
        "1 token of 48 cells");
    row("a phase", "UPDATE batch_space SET phase = 7 WHERE id = (4294967296 + 5) * 64",
        "the cells of batch 5 are of phase 7");
    row("cells of no space", "UPDATE batch_space SET id = id + 7, space = space + 7 WHERE id = (4294967296 + 5) * 64",
        "batch 5 has cells of a space that is not there");
    row("cells that are gone", "DELETE FROM batch_space WHERE id = (4294967296 + 5) * 64",
        "about cells that the batch does not have");
    row("sequences of a batch", "UPDATE batch SET sequences = 3 WHERE run = 1 AND number = 5",
        "batch 5 counts 3 sequences of 4");
    row("first sequence", "UPDATE batch SET first_sequence = 21 WHERE run = 1 AND number = 5",
        "batch 5 begins with sequence 21");
    row("a time", "UPDATE batch SET latency_ms = -1 WHERE run = 1 AND number = 5", "batch 5 of run #1 took -1.0 ms");
    row("a time without end", "UPDATE batch SET latency_ms = 1e999 WHERE run = 1 AND number = 5",
        "batch 5 of run #1 took Inf ms");
    row("a part", "UPDATE batch SET part = 9 WHERE run = 1 AND number = 5", "part 9 of an optimisation");
    row("an event", "UPDATE event SET data = x'010108000000' WHERE batch = 4294967296 + 5",
        "batch 5 has an event of step 4 of 3");
    row("guards of a batch", "UPDATE batch SET guard_hits = 2 WHERE run = 1 AND number = 5",
        "the guards' sums are not those of its batches");
    row("guards of a run", "UPDATE guard SET hits = hits + 1 WHERE run = 1",
        "the guards' sums are not those of its batches");
    row("misses", "DELETE FROM guard_miss WHERE batch = 4294967296 + 7",
        "batch 7 counts 1 miss of guards, guard_miss others");
    row("a guard that is not a step", "UPDATE guard SET step = 8 WHERE run = 1", "a guard is step 8 of 3");
    row("an item", "UPDATE batch_item SET item = 999 WHERE run = 2 AND item = 40",
        "lists item 40, batch_item does not");
    row("an item too many", "INSERT INTO batch_item VALUES(2, 999, 3)",
        "batch_item has 161 rows, the batches list 160 items");
    row("an input of another batch", "UPDATE sequence SET number = 5000 WHERE run = 1 AND number = 3", "by label");
    row("an input of no batch", "UPDATE sequence SET number = -5 WHERE run = 1 AND number = 3",
        "an input of run #1 has the number -5");
    row("first sequence of a list", "UPDATE batch SET first_sequence = 3 WHERE run = 2 AND number = 5",
        "batch 5 of run #2 lists its items and begins with sequence 3");
    row("a decision of no batch", "UPDATE decision SET id = id + 4096 * 1000 WHERE id = (4294967296 + 39) * 4096",
        "table decision has a row");
    row("a decision that is gone", "DELETE FROM decision WHERE id = (4294967296 + 5) * 4096",
        "router encoder.0.mlp has loads and no decision in batch 5");
    row("another decision",
        "UPDATE decision SET data = (SELECT data FROM decision WHERE id = (4294967296 + 6) * 4096) WHERE id = "
        "(4294967296 "
        "+ 5) * 4096",
        "the loads of router encoder.0.mlp in batch 5");
    for (const char* table : {"space", "edge", "step", "batch", "sequence", "guard"})
      QTest::addRow("a %s of no run", table)
          << QString("UPDATE %1 SET run = 77 WHERE run = 1").arg(table)
          << QString("table %1 has a row of something that does not exist").arg(table);
    for (const char* table : {"label_load", "token_load", "load_window", "pair_window", "run_load", "run_margin"})
      QTest::addRow("a %s of no router", table)
          << QString("UPDATE %1 SET router = 4100 + 77 WHERE router = (SELECT min(router) FROM %1)").arg(table)
          << QString("table %1 has a row of something that does not exist").arg(table);
    row("a step that is gone", "DELETE FROM step WHERE run = 1 AND ordinal = 1", "run #1 lacks a step");
    row("a step of no router", "UPDATE step SET router = 9 WHERE run = 1 AND ordinal = 1",
        "step 1 of run #1 is of a router that is not there");
    row("a cost", "UPDATE step SET flops = -3 WHERE run = 1 AND ordinal = 1", "step 1 of run #1 has a negative cost");
    row("a configuration", "UPDATE run SET config = '{' WHERE id = 2",
        "config, machine or dataset of run #2 is not JSON");
    row("a summary", "UPDATE run SET summary = 'x' WHERE id = 2", "the summary of run #2 is not JSON");
    row("a state", "UPDATE run SET status = 'over' WHERE id = 2", "run #2 has the state 'over'");
    row("a model", "UPDATE run SET model = 9 WHERE id = 2", "run #2 is of a model that is not there");
    row("its number", "DELETE FROM meta WHERE key = 'id'", "its id is missing");
    row("a note", "INSERT INTO annotation VALUES(1, 0, 'k', 'no')", "a note on step 0 of run #1 is not JSON");
    row("a placement of no run", "INSERT INTO placement VALUES(9, 77, 'n', 'eplb', '', '{}', '{}')",
        "table placement has a row of something that does not exist");
    row("a placement under a run's number", "INSERT INTO placement VALUES(1, 1, 'n', 'eplb', '', '{}', '{}')",
        "placement #1 has the number of a run");
    row("a placement that is not JSON", "INSERT INTO placement VALUES(9, 1, 'n', 'eplb', '', '{', '{}')",
        "placement #9 is not JSON");
    row("a piece", "UPDATE piece SET text = x'00ff' WHERE token = 7", "the piece of token 7 is not text");
    row("a table that is gone", "DROP TABLE token_load", "it has no table token_load");
    row("a column that is gone", "ALTER TABLE token_load RENAME COLUMN cells TO cell", "a table has no column cells");
  }
  void every_table_that_says_something_else_is_found() {
    QFETCH(QString, damage);
    QFETCH(QString, words);
    const std::string path = at("damaged.storm");
    fs::copy_file(good_, path, fs::copy_options::overwrite_existing);
    const std::string before = read_all(path);
    execute(path, damage.toUtf8().constData());
    QVERIFY(read_all(path) != before);
    const Outcome o = outcome([&] { SessionReader(path).check(); });
    QVERIFY2(o.kind == ErrorKind::bad_input, o.message.c_str());
    QVERIFY2(o.message.starts_with(path + ": the file is damaged: ") &&
                 o.message.find(words.toStdString()) != std::string::npos,
             o.message.c_str());
    QVERIFY2(
        o.message.ends_with("(copy it again from where it was recorded)") && o.message.find('\n') == std::string::npos,
        o.message.c_str());
  }

  /// Any value of any row, but for those that nothing else in the file says again.
  void every_column_is_looked_at() {
    const std::string path = at("column.storm");
    std::set<std::string> free(std::begin(kSaidOnce), std::end(kSaidOnce));
    const auto columns = rows_of(
        good_,
        "SELECT m.name || '.' || c.name, m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE "
        "m.type = 'table' ORDER BY 1");
    QVERIFY(columns.size() > 100);
    for (const std::vector<std::string>& c : columns) {
      if (free.erase(c[0]) > 0 || c[1] == "annotation" || c[1] == "placement") continue;
      fs::copy_file(good_, path, fs::copy_options::overwrite_existing);
      // A row in the middle: of integers one more, of texts and BLOBs another last byte.
      const std::string row = "(SELECT count(*) / 3 FROM " + c[1] + ")", changed = c[2];
      const std::string keys =
          rows_of(good_, "SELECT group_concat(name) FROM pragma_table_info('" + c[1] + "') WHERE pk > 0")[0][0];
      const std::string set = "CASE typeof(" + changed + ") WHEN 'null' THEN 1 WHEN 'text' THEN " + changed +
                              " || 'x' WHEN 'blob' THEN CAST(substr(" + changed + ", 1, length(" + changed +
                              ") - 1) || x'f5' AS BLOB) ELSE " + changed + " + 1 END";
      execute(path, ("UPDATE OR REPLACE " + c[1] + " SET " + changed + " = " + set + " WHERE (" + keys +
                     ") IN (SELECT " + keys + " FROM " + c[1] + " LIMIT 1 OFFSET " + row + ")")
                        .c_str());
      const Outcome o = outcome([&] { SessionReader(path).check(); });
      QVERIFY2(o.kind == ErrorKind::bad_input && o.message.find("the file is damaged") != std::string::npos,
               (c[0] + ": " + o.message).c_str());
    }
    QVERIFY2(free.empty(), ("there is no " + (free.empty() ? std::string() : *free.begin())).c_str());
  }

  void broken_pages_are_told_in_our_words() {
    const std::string path = at("pages.storm");
    const std::string bytes = read_all(good_);
    for (size_t page = 1; page * 8192 < bytes.size(); page += 7) {
      std::string damaged = bytes;
      damaged.replace(page * 8192, 8192, 8192, '\x5a');
      write_text(path, damaged);
      const Outcome o = outcome([&] { SessionReader(path).check(); });
      QVERIFY2(o.kind == ErrorKind::bad_input, o.message.c_str());
      for (const char* raw : {"***", "btree", "Tree", "database", "SQL", "error code", "rowid"})
        QVERIFY2(o.message.find(raw) == std::string::npos, o.message.c_str());
    }
  }
};

STORMCELL_TEST(SessionCheckTest)

}  // namespace stormcell

#include "session_check_test.moc"
