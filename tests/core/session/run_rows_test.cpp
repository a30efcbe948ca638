// Loads and margins of whole runs as rows that any SQLite program can query: what they hold, when they are written, and
// the queries of the page.
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/cell/margins.h"
#include "core/session/schema.h"
#include "core/session/sqlite.h"
#include "tests/core/session/child_process.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;
namespace fs = std::filesystem;

/// Cells by router and branch, or by router and bin.
using NumbersByRouter = std::map<std::pair<int64_t, int64_t>, int64_t>;

NumbersByRouter numbers_of(const std::string& path, const std::string& view, int64_t run) {
  sqlite::Database db(path, sqlite::OpenMode::read);
  NumbersByRouter numbers;
  sqlite::Statement rows(db, ("SELECT run, router, * FROM " + view + " WHERE run = ?").c_str());
  for (rows.bind(1, run); rows.step();) numbers[{rows.integer(1), rows.integer(4)}] = rows.integer(5);
  return numbers;
}
int64_t rows_in(const std::string& path, const std::string& table) {
  sqlite::Database db(path, sqlite::OpenMode::read);
  return db.number(("SELECT count(*) FROM " + table).c_str());
}

NumbersByRouter real_loads(const SessionReader& reader, int64_t run) {
  NumbersByRouter loads;
  const RunLayout& layout = reader.layout(run);
  for (int32_t r = 0; r < std::ssize(layout.routers); ++r) {
    const std::vector<int64_t> real = reader.total_loads(run, r).real();
    for (size_t b = 0; b < real.size(); ++b) loads[{r, static_cast<int64_t>(b)}] = real[b];
  }
  return loads;
}

/// A batch of one router over `margins` cells, the last of which is padding.
void fill_margins(BatchRecord& batch, int64_t number, const std::vector<float>& margins,
                  const std::vector<float>& scores) {
  const auto cells = static_cast<int32_t>(scores.empty() ? margins.size() : scores.size() / 3);
  std::vector<int32_t> mask(static_cast<size_t>(cells), 1), choice;
  mask.back() = 0;
  for (int32_t c = 0; c < cells; ++c) choice.push_back(c % 2);
  batch.number = number;
  batch.add_space(0, {number, 1, cells, 0, Phase::forward}, mask, {});
  DecisionRecord d;
  d.choice = choice, d.margin = margins, d.scores = scores;
  batch.add_decision(d);
}
RunLayout one_router() {
  RunLayout layout;
  layout.spaces = {"tokens"};
  layout.routers = {{"mlp", 3, 1, "top-k", 0, "tokens"}};
  return layout;
}

/// Records batches with scores; how the run ends is the caller's.
std::unique_ptr<RunWriter> recorded(SessionWriter& writer, int64_t batches, const RunStart& start = some_run()) {
  auto run = writer.begin_run(start);
  record_batches(*run, start.layout, 0, batches, {}, true);
  return run;
}

/// Brings a session back to schema 8.
void take_rows_away(const std::string& path) {
  execute(path,
          "DROP VIEW run_loads; DROP VIEW run_margins; DROP TABLE run_load; DROP TABLE run_margin; "
          "PRAGMA user_version=8");
}

}  // namespace

class RunRowsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void a_margin_of_a_power_of_two_begins_a_bin() {
    for (int32_t power = -43; power < 20; ++power) {
      MarginBins bins;
      bins.add(std::exp2(power));
      bins.add(std::exp2(power + .999));
      const auto first = std::find(bins.count.begin(), bins.count.end(), 1) - bins.count.begin();
      QCOMPARE(MarginBins::number_of(static_cast<int32_t>(first)), 4 * power);
      QCOMPARE(bins.count[static_cast<size_t>(first) + 3], int64_t{1});
      QCOMPARE(MarginBins::begin_of(static_cast<int32_t>(first)), std::exp2(power));
    }
    MarginBins ends;
    for (const double margin : {0.0, -1.0, 1e-300}) ends.add(margin);
    for (const double margin : {1e300, HUGE_VAL}) ends.add(margin);
    ends.add(std::nan(""));
    QVERIFY(ends.count.front() == 3 && ends.count.back() == 2 && ends.total() == 5);
    QVERIFY(MarginBins::number_of(0) == -176 && MarginBins::number_of(MarginBins::kBins - 1) == 79);
  }

  void loads_of_a_run_are_those_of_its_windows_without_padding() {
    const std::string path = at("loads.storm");
    make_session(path, 37);
    make_session(path, 5, some_run("second"));
    const SessionReader reader(path);
    for (const int64_t run : {1, 2}) {
      const NumbersByRouter loads = numbers_of(path, "run_loads", run);
      QVERIFY(!loads.empty() && loads == real_loads(reader, run));
    }
    QVERIFY(numbers_of(path, "run_loads", 1) != numbers_of(path, "run_loads", 2));
    QCOMPARE(rows_in(path, "run_margins"), int64_t{0});  // nothing recorded them
  }

  void margins_are_those_of_real_cells_recorded_or_by_scores() {
    const std::string path = at("margins.storm");
    RunStart start = some_run("margins", one_router());
    {
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(start);
      Recorder recorder({run.get()});
      fill_margins(recorder.begin_batch(), 0, {.5F, .6F, 0, 1, 1, 100}, {});
      recorder.submit();
      // Choices are 0, 1, 0, and the last cell is padding: margins 2 and 0.25.
      fill_margins(recorder.begin_batch(), 1, {}, {3, 1, 0, 2, 2.25F, -9, 9, 0, 0});
      recorder.submit();
      recorder.finish();
      run->finish(RunStatus::finished);
      run.reset();
      writer.close();
    }
    const NumbersByRouter expected = {{{0, -176}, 1}, {{0, -8}, 1}, {{0, -4}, 1},
                                      {{0, -3}, 1},   {{0, 0}, 2},  {{0, 4}, 1}};
    QVERIFY(numbers_of(path, "run_margins", 1) == expected);
    SessionReader(path).check();
  }

  void a_run_without_decisions_has_rows_too() {
    const std::string path = at("counted.storm");
    RunStart start = some_run();
    start.decisions = false;
    {
      SessionWriter writer(path, some_model());
      recorded(writer, 20, start)->finish(RunStatus::finished);
      writer.close();
    }
    const SessionReader reader(path);
    QVERIFY(numbers_of(path, "run_loads", 1) == real_loads(reader, 1));
    QVERIFY(numbers_of(path, "run_margins", 1).size() == two_stacks().routers.size());  // all are .5
    reader.check();
  }

  /// A hostile trace may name millions of branches; no row is written for those that nobody got.
  void a_router_of_very_many_branches_has_rows_of_those_with_cells() {
    const std::string path = at("many.storm");
    RunStart start = some_run("many", one_router());
    start.layout.routers[0].branches = 70000;
    start.decisions = false;
    {
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(start);
      Recorder recorder({run.get()});
      std::vector<int64_t> counts(70000);
      counts[3] = 5, counts[69999] = 2;
      recorder.begin_batch().add_loads({0, counts});
      recorder.submit();
      recorder.finish();
      run->finish(RunStatus::finished);
      run.reset();
      writer.close();
    }
    QVERIFY((numbers_of(path, "run_loads", 1) == NumbersByRouter{{{0, 3}, 5}, {{0, 69999}, 2}}));
    SessionReader(path).check();
  }

  /// Rows say what was recorded until then.
  void a_run_that_is_stopped_in_the_middle_has_rows() {
    const std::string path = at("stopped.storm");
    {
      SessionWriter writer(path, some_model());
      recorded(writer, 7).reset();  // nobody finished it
      recorded(writer, 9)->finish(RunStatus::failed);
      writer.close();
    }
    const SessionReader reader(path);
    QVERIFY(reader.run(1).status == RunStatus::interrupted && reader.run(2).status == RunStatus::failed);
    for (const int64_t run : {1, 2}) {
      QVERIFY(numbers_of(path, "run_loads", run) == real_loads(reader, run));
      QVERIFY(!numbers_of(path, "run_margins", run).empty());
    }
    reader.check();
  }

  void a_run_that_goes_on_or_was_taken_back_has_none() {
    const std::string path = at("held.storm");
    SessionWriter writer(path, some_model());
    auto run = recorded(writer, 5);
    run->commit();
    QVERIFY(rows_in(path, "run_loads") == 0 && rows_in(path, "run_margins") == 0);
    run->finish(RunStatus::finished);
    run.reset();
    const int64_t loads = rows_in(path, "run_loads"), margins = rows_in(path, "run_margins");
    QVERIFY(loads > 0 && margins > 0);
    writer.hold();
    recorded(writer, 5)->finish(RunStatus::finished);
    writer.take_back();
    QVERIFY(rows_in(path, "run_loads") == loads && rows_in(path, "run_margins") == margins);
  }

  void a_killed_run_has_none_and_the_next_one_has() {
#ifdef __SANITIZE_THREAD__
    QSKIP("ThreadSanitizer cannot follow forked children that start threads");
#endif
    const std::string path = at("killed.storm");
    Child child([&](const Child::Send& send) {
      SessionWriter writer(path, some_model());
      auto run = recorded(writer, 21);
      send("recorded");
      ::pause();
    });
    QCOMPARE(child.line(), std::string("recorded"));
    child.kill();
    make_session(path, 5, some_run("next"));
    const SessionReader reader(path);
    QVERIFY(reader.run(1).status == RunStatus::interrupted && reader.run(1).batches == 21);
    QVERIFY(numbers_of(path, "run_loads", 1).empty() && numbers_of(path, "run_margins", 1).empty());
    QVERIFY(numbers_of(path, "run_loads", 2) == real_loads(reader, 2));
    reader.check();
  }

  void a_session_of_an_earlier_schema_opens_as_it_did_and_gets_rows_of_new_runs() {
    const std::string path = at("older.storm"), kept = at("kept.storm");
    {
      SessionWriter writer(path, some_model());
      recorded(writer, 12)->finish(RunStatus::finished, "{}");
      writer.close();
    }
    const NumbersByRouter loads = real_loads(SessionReader(path), 1);
    take_rows_away(path);
    fs::copy_file(path, kept);
    {
      const SessionReader reader(path);
      QCOMPARE(reader.summary().schema, 8);
      QVERIFY(real_loads(reader, 1) == loads);
      QCOMPARE(reader.check().batches, int64_t{12});
    }
    QVERIFY(read_all(path) == read_all(kept));  // reading changed nothing
    make_session(path, 5, some_run("next"));
    const SessionReader reader(path);
    QCOMPARE(reader.summary().schema, kSchemaVersion);
    QVERIFY(numbers_of(path, "run_loads", 1).empty() && numbers_of(path, "run_margins", 1).empty());
    QVERIFY(numbers_of(path, "run_loads", 2) == real_loads(reader, 2));
    QVERIFY(real_loads(reader, 1) == loads);
    reader.check();
    for (const char* name : {"optimize", "generate", "import"}) {
      const std::string second = at(std::string(name) + ".storm");
      fs::copy_file(source_folder() + "/tests/core/session/fixtures/schema2/" + name + ".storm", second);
      fs::permissions(second, fs::perms::owner_all);
      const auto runs = static_cast<int64_t>(SessionReader(second).runs().size());
      {
        SessionWriter writer(second, SessionReader(second).summary().model);
        recorded(writer, 3)->finish(RunStatus::finished);
        writer.close();
      }
      for (int64_t run = 1; run <= runs; ++run) QVERIFY(numbers_of(second, "run_loads", run).empty());
      QVERIFY(numbers_of(second, "run_loads", runs + 1) == real_loads(SessionReader(second), runs + 1));
      SessionReader(second).check();
    }
  }

  /// Every query of docs/session-format.md gives what it says of this session.
  void the_queries_of_the_page_are_answered() {
    const std::string path = at("queries.storm");
    {
      SessionWriter writer(path, some_model());
      recorded(writer, 20)->finish(RunStatus::finished);
      recorded(writer, 4)->finish(RunStatus::finished);
      writer.close();
    }
    std::string page = read_all(source_folder() + "/docs/session-format.md");
    const size_t begin = page.find("```sql\n") + 7;
    std::istringstream queries(page.substr(begin, page.find("```", begin) - begin));
    sqlite::Database db(path, sqlite::OpenMode::read);
    std::vector<std::vector<std::string>> first_rows;
    for (std::string query; std::getline(queries, query, ';');) {
      if (query.find("SELECT") == std::string::npos) continue;
      sqlite::Statement rows(db, query.c_str());
      QVERIFY2(rows.step(), query.c_str());
      first_rows.push_back({std::string(rows.text(0)), std::string(rows.text(1))});
      if (query.find("near_ties") != std::string::npos) QCOMPARE(rows.real(2), 0.0);  // every margin is .5
      if (query.find("times_even") != std::string::npos) QVERIFY(rows.real(3) > 1);
      if (query.find("moved") != std::string::npos) QVERIFY(rows.real(1) > 0 && rows.real(1) < 1);
    }
    QCOMPARE(first_rows.size(), size_t{5});
  }
};

STORMCELL_TEST(RunRowsTest)

}  // namespace stormcell

#include "run_rows_test.moc"
